import Foundation

/// A challenge that only the holder of a verifier can answer (RFC 7636, method S256).
package struct PkceChallenge: Sendable {
    /// The challenge as it goes on the wire.
    package let digest: String

    /// Nil for a text that cannot be the digest of anything.
    package init?(_ digest: String) {
        // SHA-256 in base64url without padding.
        guard digest.utf8.count == 43, digest.unicodeScalars.allSatisfy(Self.base64url.contains) else { return nil }
        self.digest = digest
    }

    /// The challenge of a verifier.
    package init(verifier: String) {
        digest = Data(Sha256.hash(verifier.utf8)).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// RFC 7636 §4.1 and §4.6: a verifier has 43 to 128 unreserved characters, or is none.
    package func isMet(by verifier: String) -> Bool {
        guard (43...128).contains(verifier.utf8.count) else { return false }
        guard verifier.unicodeScalars.allSatisfy(Self.unreserved.contains) else { return false }
        return PkceChallenge(verifier: verifier).digest == digest
    }

    private static let base64url = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".unicodeScalars
    )
    private static let unreserved = base64url.union(".~".unicodeScalars)
}

extension PkceChallenge: Redacted {}
