import Crypto
import Foundation
import NautilusSessions

/// AES-GCM of swift-crypto, for servers and command-line tools where there is no CryptoKit.
///
/// ```swift
/// let store = EncryptedStore(FileStore(folder: folder), cipher: AesGcmCipher(key: key))
/// ```
/// The key comes from elsewhere: a secret of the deployment, the system's keyring.
public struct AesGcmCipher: CredentialCipher {
    private let key: SymmetricKey

    /// Creates a cipher with a key of 128, 192 or 256 bits.
    public init(key: SymmetricKey) {
        self.key = key
    }

    /// Nonce, encrypted bytes and tag, one after the other; the nonce is drawn each time.
    public func seal(_ bytes: Data, context: Data) throws -> Data {
        let box = try AES.GCM.seal(bytes, using: key, authenticating: context)
        return Data(box.nonce) + box.ciphertext + box.tag
    }

    /// The bytes, if they were sealed with this key and for this context.
    public func open(_ sealed: Data, context: Data) throws -> Data {
        try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key, authenticating: context)
    }
}
