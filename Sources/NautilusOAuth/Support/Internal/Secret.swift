import Foundation
import Nautilus

/// A text that is never printed.
struct Secret: Sendable {
    /// The text, to be sent.
    let text: String

    init(_ text: String) {
        self.text = text
    }

    /// Whether `other` is the same text. The time that the comparison takes does not reveal how much of it matches.
    func matches(_ other: String) -> Bool {
        let (own, other) = (Array(text.utf8), Array(other.utf8))
        guard own.count == other.count else { return false }
        return zip(own, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension Secret: Redacted {
    /// A placeholder; nothing of the text.
    var description: String { "‹redacted›" }
}

extension String {
    /// Creates the base64url form of `bytes` without padding (RFC 4648 §5, RFC 7636 appendix A), which URLs and forms
    /// can carry unchanged.
    init(base64Url bytes: [UInt8]) {
        self = Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}

/// The source of secrets.
struct Randomness: Sendable {
    private let draw: @Sendable () -> UInt64

    /// The system's generator, which is fit for secrets on every platform of this package.
    static let system = Randomness { UInt64.random(in: .min ... .max) }

    /// Creates a source with draws that a test chooses.
    init(_ draw: @escaping @Sendable () -> UInt64) {
        self.draw = draw
    }

    /// A secret of 32 bytes, as RFC 7636 §7.1 recommends: 43 characters that fit into a URL unchanged.
    func secret() -> Secret {
        let bytes = (0..<4).flatMap { _ in withUnsafeBytes(of: draw().bigEndian, Array.init) }
        return Secret(String(base64Url: bytes))
    }
}
