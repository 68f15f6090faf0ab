import Foundation

/// The credential of a user, or of a client itself: the reply of a token endpoint (RFC 6749 §5.1).
///
/// Its lifetime counts from its receipt. Within a process that is the coordinator's business, on a monotonic clock; the
/// wall clock is only asked of a credential that was stored by another run, see ``remainingLifetime(at:)``.
public struct OAuthCredential: Hashable, Sendable {
    /// The token that authorizes a request.
    public let accessToken: String
    /// The token that the next refresh spends; nil when the server issues none.
    public let refreshToken: String?
    /// How the access token is used, as the server writes it; `Bearer` (RFC 6750) is the only one that is stamped.
    public let tokenType: String
    /// The scope of the access token; nil when the server does not say: then the one that was asked for (RFC 6749
    /// §5.1).
    public let scope: OAuthScope?
    /// How long it serves, counted from ``receivedAt``; nil when the server does not say, or nothing that can be meant
    /// (an `expires_in` below a second, or no number), which means no expiry (B19): a rejected token is refreshed
    /// anyway.
    public let lifetime: Duration?
    /// When it was received, on this device's wall clock; only ever compared with the same clock.
    public let receivedAt: Date

    /// Creates a credential, as from another library's storage.
    ///
    /// - Parameters:
    ///   - accessToken: The token that authorizes a request.
    ///   - refreshToken: The token that the next refresh spends. Default: nil, there is none.
    ///   - tokenType: How the access token is used. Default: `Bearer`.
    ///   - scope: The scope of the access token. Default: nil, unknown.
    ///   - lifetime: How long it serves from `receivedAt`; negative counts as zero, and more than
    ///     ten thousand years as these. Default: nil, no expiry.
    ///   - receivedAt: When it was received. Default: now.
    public init(
        accessToken: String,
        refreshToken: String? = nil,
        tokenType: String = "Bearer",
        scope: OAuthScope? = nil,
        lifetime: Duration? = nil,
        receivedAt: Date = Date()
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.tokenType = tokenType
        self.scope = scope
        self.lifetime = lifetime.map { min(max(.zero, $0), Self.maxLifetime) }
        self.receivedAt = receivedAt
    }

    /// Ten thousand years. Nothing lasts longer, and sums stay far from the largest `Duration`, at which they trap.
    static let maxLifetime = Duration.seconds(Int64(315_576_000_000))

    /// The rest of the lifetime; zero when it is over, nil when there is no expiry.
    ///
    /// A wall clock can be wrong, and be set meanwhile. One that was set back makes a credential last no longer than it
    /// would have from now on; one that was set forward costs one refresh. Neither repeats itself, since the
    /// credential that a refresh brings is measured on a monotonic clock.
    public func remainingLifetime(at now: Date) -> Duration? {
        lifetime.map { lifetime in
            let elapsed = max(0, now.timeIntervalSince(receivedAt))
            // A clock that was off by centuries must not overflow.
            return max(.zero, lifetime - .seconds(min(elapsed, 3_155_760_000)))
        }
    }
}

extension OAuthCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Type, scope and lifetime; never a token.
    public var description: String {
        var parts = [tokenType, refreshToken == nil ? "without refresh token" : "with refresh token"]
        if let scope { parts.append("scope \"\(scope)\"") }
        if let lifetime { parts.append("lifetime \(lifetime.components.seconds) s") }
        return "OAuthCredential(\(parts.joined(separator: ", ")))"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["credential": description]) }
}
