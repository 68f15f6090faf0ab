import Nautilus

#if canImport(CryptoKit)
    import CryptoKit
    import Foundation

    /// AES-GCM of Apple's CryptoKit.
    ///
    /// ```swift
    /// let store = EncryptedStore(FileStore(folder: folder), cipher: AesGcmCipher(key: key))
    /// ```
    /// Keep the key where the credentials are not: in the keychain, for one.
    public struct AesGcmCipher: CredentialCipher {
        private let key: SymmetricKey

        /// Creates a cipher.
        ///
        /// - Parameter key: 128, 192 or 256 bits; `SymmetricKey(size: .bits256)` draws one.
        public init(key: SymmetricKey) {
            self.key = key
        }

        /// Nonce, encrypted bytes and tag, one after the other; the nonce is drawn each time.
        ///
        /// - Throws: `CryptoKitError` for a key of another size.
        public func seal(_ bytes: Data, context: Data) throws -> Data {
            let box = try AES.GCM.seal(bytes, using: key, authenticating: context)
            // It is nil for a nonce of an unusual size, and this one is the usual one.
            return box.combined ?? Data(box.nonce) + box.ciphertext + box.tag
        }

        /// - Throws: `CryptoKitError` for bytes that were not sealed with this key and context.
        public func open(_ sealed: Data, context: Data) throws -> Data {
            try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key, authenticating: context)
        }
    }

    extension AesGcmCipher: Redacted {
        /// Nothing of the key.
        public var description: String { "AesGcmCipher" }

        /// Nothing of the key.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
#endif
