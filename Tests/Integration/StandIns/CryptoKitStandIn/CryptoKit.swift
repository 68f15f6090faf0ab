import Foundation

// The interface of CryptoKit as far as `AesGcmCipher` needs it, for the compiler alone: nothing is encrypted here. The
// example `SealedStore` runs the same code with swift-crypto.

public struct SymmetricKey: Sendable {
    public init(data: some ContiguousBytes) {}
}

public struct CryptoKitUnavailable: Error {}

public enum AES {
    public enum GCM {
        public struct Nonce: Sendable, ContiguousBytes, Sequence {
            public func makeIterator() -> Data.Iterator { Data().makeIterator() }

            public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
                try Data().withUnsafeBytes(body)
            }
        }

        public struct SealedBox: Sendable {
            public let nonce = Nonce()
            public let tag = Data()
            public let ciphertext = Data()
            public var combined: Data? { nil }

            public init(combined: some DataProtocol) throws { throw CryptoKitUnavailable() }
        }

        public static func seal(
            _ message: some DataProtocol,
            using key: SymmetricKey,
            nonce: Nonce? = nil,
            authenticating data: some DataProtocol
        ) throws -> SealedBox {
            throw CryptoKitUnavailable()
        }

        public static func open(
            _ sealedBox: SealedBox,
            using key: SymmetricKey,
            authenticating data: some DataProtocol
        ) throws -> Data {
            throw CryptoKitUnavailable()
        }
    }
}
