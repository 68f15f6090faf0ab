import Nautilus

#if canImport(CryptoKit)
    import CryptoKit
    import Foundation

    /// AES-GCM, as implemented by Apple's CryptoKit.
    ///
    /// ```swift
    /// let store = EncryptedStore(FileStore(folder: folder), cipher: AesGcmCipher(key: key))
    /// ```
    /// Keep the key apart from the credentials, in the keychain for example.
    public struct AesGcmCipher: CredentialCipher {
        private let key: SymmetricKey

        /// Creates a cipher.
        ///
        /// - Parameter key: 128, 192 or 256 bits; `SymmetricKey(size: .bits256)` generates one.
        public init(key: SymmetricKey) {
            self.key = key
        }

        /// The nonce, the encrypted bytes and the tag, one after the other. Each call draws a new nonce.
        ///
        /// - Throws: `CryptoKitError` for a key of another size.
        public func seal(_ bytes: Data, context: Data) throws -> Data {
            let box = try AES.GCM.seal(bytes, using: key, authenticating: context)
            // `combined` is nil only for a nonce of an unusual size; CryptoKit draws the usual one.
            return box.combined ?? Data(box.nonce) + box.ciphertext + box.tag
        }

        /// - Throws: `CryptoKitError` for bytes that were not sealed with this key and context.
        public func open(_ sealed: Data, context: Data) throws -> Data {
            try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key, authenticating: context)
        }
    }

    extension AesGcmCipher: Redacted {
        /// The name of the type; nothing of the key.
        public var description: String { "AesGcmCipher" }
    }
#endif
