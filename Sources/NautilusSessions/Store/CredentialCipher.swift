import Foundation

/// Encrypts what a store keeps: authenticated encryption, such as AES-GCM, with a key that only the app, or only its
/// user, has.
///
/// `AesGcmCipher` is one where CryptoKit is. Elsewhere, write one over a library that you trust, in ten lines, and
/// never an algorithm of your own:
///
/// ```swift
/// struct AesGcm: CredentialCipher {  // import Crypto, of swift-crypto
///     let key: SymmetricKey
///     func seal(_ bytes: Data, context: Data) throws -> Data {
///         guard let sealed = try AES.GCM.seal(bytes, using: key, authenticating: context).combined else { throw NoNonce() }
///         return sealed
///     }
///     func open(_ sealed: Data, context: Data) throws -> Data {
///         try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key, authenticating: context)
///     }
/// }
/// ```
public protocol CredentialCipher: Sendable {
    /// Encrypts bytes, each time with another nonce.
    ///
    /// - Parameters:
    ///   - bytes: The secret.
    ///   - context: The owner of the secret, which is authenticated with it and not stored.
    /// - Throws: Any error; nothing is stored then.
    func seal(_ bytes: Data, context: Data) throws -> Data

    /// Reads what ``seal(_:context:)`` made.
    ///
    /// - Throws: Any error, when it was sealed with another key, for another context, or has been changed.
    func open(_ sealed: Data, context: Data) throws -> Data
}
