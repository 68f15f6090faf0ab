import Nautilus

/// The source of secrets.
struct Randomness: Sendable {
    private let draw: @Sendable () -> UInt64

    /// The system's generator, which is fit for secrets on every platform of this package.
    static let system = Randomness { UInt64.random(in: .min ... .max) }

    /// Draws of a test's choice.
    init(_ draw: @escaping @Sendable () -> UInt64) {
        self.draw = draw
    }

    /// A secret of 32 bytes, as many as RFC 7636 §7.1 recommends: 43 characters that fit into a URL as they are.
    func secret() -> Secret {
        let bytes = (0..<4).flatMap { _ in withUnsafeBytes(of: draw().bigEndian, Array.init) }
        return Secret(String(base64Url: bytes))
    }
}
