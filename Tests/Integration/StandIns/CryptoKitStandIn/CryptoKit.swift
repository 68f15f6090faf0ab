import Foundation

// The interface of CryptoKit as far as `AesGcmCipher` needs it, for the compiler alone: nothing is encrypted here. The
// example `SealedStore` runs the same code with swift-crypto.

/// A key; public, since it is part of the library's API.
public struct SymmetricKey: Sendable {
    package init(data: some ContiguousBytes) {}
}

package struct CryptoKitUnavailable: Error {}

package enum AES {
    package enum GCM {
        package struct Nonce: Sendable, ContiguousBytes, Sequence {
            package func makeIterator() -> Data.Iterator { Data().makeIterator() }

            package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
                try Data().withUnsafeBytes(body)
            }
        }

        package struct SealedBox: Sendable {
            package let nonce = Nonce()
            package let tag = Data()
            package let ciphertext = Data()
            package var combined: Data? { nil }

            package init(combined: some DataProtocol) throws { throw CryptoKitUnavailable() }
        }

        package static func seal(
            _ message: some DataProtocol,
            using key: SymmetricKey,
            nonce: Nonce? = nil,
            authenticating data: some DataProtocol
        ) throws -> SealedBox {
            throw CryptoKitUnavailable()
        }

        package static func open(
            _ sealedBox: SealedBox,
            using key: SymmetricKey,
            authenticating data: some DataProtocol
        ) throws -> Data {
            throw CryptoKitUnavailable()
        }
    }
}
