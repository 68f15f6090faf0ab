import Foundation

/// How a credential is written, apart from its properties: renaming one must not change what is stored, every duration and
/// date comes back exactly, and numbers that could not be calculated with are not let in.
extension OAuthCredential: Codable {
    private enum CodingKeys: String, CodingKey {
        case accessToken, refreshToken, tokenType, scope, lifetime, receivedAt
    }

    /// A `Duration`, whole; a single number would be rounded.
    private struct Lifetime: Codable {
        let seconds: Int64
        let attoseconds: Int64

        var isInRange: Bool {
            (0...OAuthCredential.maxLifetime.components.seconds).contains(seconds)
                && (0..<1_000_000_000_000_000_000).contains(attoseconds)
        }
    }

    /// Reads what ``encode(to:)`` wrote, and refuses numbers out of range.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let scope = try container.decodeIfPresent([String].self, forKey: .scope)
        let lifetime = try container.decodeIfPresent(Lifetime.self, forKey: .lifetime)
        let receivedAt = try container.decode(Double.self, forKey: .receivedAt)
        guard receivedAt.isFinite, lifetime?.isInRange ?? true else {
            throw DecodingError.dataCorrupted(.init(codingPath: container.codingPath, debugDescription: "out of range"))
        }
        self.init(
            accessToken: try container.decode(String.self, forKey: .accessToken),
            refreshToken: try container.decodeIfPresent(String.self, forKey: .refreshToken),
            tokenType: try container.decode(String.self, forKey: .tokenType),
            scope: scope.map { OAuthScope($0) },
            lifetime: lifetime.map { Duration(secondsComponent: $0.seconds, attosecondsComponent: $0.attoseconds) },
            receivedAt: Date(timeIntervalSinceReferenceDate: receivedAt)
        )
    }

    /// Writes the receipt as seconds since 2001, as `Date` counts them itself: any other count would be rounded.
    ///
    /// - Throws: `EncodingError` when the time of the receipt is no number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(accessToken, forKey: .accessToken)
        try container.encodeIfPresent(refreshToken, forKey: .refreshToken)
        try container.encode(tokenType, forKey: .tokenType)
        try container.encodeIfPresent(scope?.tokens, forKey: .scope)
        let lifetime = lifetime?.components
        try container.encodeIfPresent(
            lifetime.map { Lifetime(seconds: $0.seconds, attoseconds: $0.attoseconds) },
            forKey: .lifetime
        )
        try container.encode(receivedAt.timeIntervalSinceReferenceDate, forKey: .receivedAt)
    }
}
