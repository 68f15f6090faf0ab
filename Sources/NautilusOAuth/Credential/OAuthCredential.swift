import Foundation
import Nautilus

/// The credential of a user, or of a client itself: the reply of a token endpoint (RFC 6749 §5.1).
///
/// The lifetime begins when the credential is received. Within a process, the coordinator measures the lifetime with a
/// monotonic clock. The wall clock is used only for a credential that another process or an earlier launch has stored;
/// see ``remainingLifetime(at:)``.
public struct OAuthCredential: Hashable, Sendable {
    /// The token that authorizes a request.
    public let accessToken: String
    /// The token that the next refresh sends; nil when the server issues none.
    public internal(set) var refreshToken: String?
    /// The type of the access token, as the server writes it. Calls send `Bearer` tokens (RFC 6750), and tokens of the
    /// types in ``OAuthRules/tokenTypes``. With any other type, calls fail and nothing is sent. The session keeps such
    /// a credential, since the server may no longer accept the one before it.
    public let tokenType: String
    /// The scope of the access token; nil when the server does not say: it is then the requested scope (RFC 6749 §5.1).
    public internal(set) var scope: OAuthScope?
    /// How long the credential lasts, counted from ``receivedAt``. Nil when the server does not say, or its value makes
    /// no sense (an `expires_in` below a second, or not a number). The credential then has no expiry, and is refreshed
    /// when the server rejects it.
    public internal(set) var lifetime: Duration?
    /// When the credential was received, by this device's wall clock. It is compared only with the same clock.
    public internal(set) var receivedAt: Date
    /// The other fields of the server's reply, such as `id_token` or `instance_url`: texts as they are, any other value
    /// as its JSON text. If the reply to a refresh leaves a field out, the old value stays. The fields are stored with
    /// the credential, and never printed.
    public internal(set) var fields: [String: String]

    /// Creates a credential, for example from another library's storage.
    ///
    /// - Parameters:
    ///   - accessToken: The token that authorizes a request.
    ///   - refreshToken: The token that the next refresh sends. Default: nil, there is none.
    ///   - tokenType: The type of the access token. Default: `Bearer`.
    ///   - scope: The scope of the access token. Default: nil, unknown.
    ///   - lifetime: How long the credential lasts from `receivedAt`; a negative value counts as zero, and more than
    ///     ten thousand years as ten thousand. Default: nil, no expiry.
    ///   - receivedAt: When the credential was received. Default: now.
    ///   - fields: Other fields of the server's reply. Default: none.
    public init(
        accessToken: String,
        refreshToken: String? = nil,
        tokenType: String = "Bearer",
        scope: OAuthScope? = nil,
        lifetime: Duration? = nil,
        receivedAt: Date = DefaultClock.date,
        fields: [String: String] = [:]
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.tokenType = tokenType
        self.scope = scope
        self.lifetime = lifetime.map { min(max(.zero, $0), Self.maxLifetime) }
        self.receivedAt = receivedAt
        self.fields = fields
    }

    /// Ten thousand years. Longer lifetimes are cut to this, so that sums stay far below the largest `Duration`: beyond
    /// it, arithmetic traps.
    static let maxLifetime = Duration.seconds(Int64(315_576_000_000))

    /// The rest of the lifetime; zero when it is over, nil when there is no expiry.
    ///
    /// A wall clock can be wrong, or be set meanwhile. If it was set back, the credential lasts no longer than its full
    /// lifetime from now. If it was set forward, there is one refresh too many. Neither happens again, since the
    /// coordinator measures the refreshed credential with a monotonic clock.
    public func remainingLifetime(at now: Date) -> Duration? {
        lifetime.map { lifetime in
            let elapsed = max(0, now.timeIntervalSince(receivedAt))
            // A clock that is off by centuries must not cause an overflow.
            return max(.zero, lifetime - .seconds(min(elapsed, 3_155_760_000)))
        }
    }
}

extension OAuthCredential: Redacted {
    /// The type, the scope, the lifetime, and whether there is a refresh token; never a token or another field.
    public var description: String {
        var parts = [tokenType, refreshToken == nil ? "without refresh token" : "with refresh token"]
        if let scope { parts.append("scope \"\(scope)\"") }
        if let lifetime { parts.append("lifetime \(lifetime.components.seconds) s") }
        return "OAuthCredential(\(parts.joined(separator: ", ")))"
    }
}

/// The stored form of a credential. Renaming a property does not change it, and every duration and date is read back
/// exactly. Decoding refuses numbers that are too large to calculate with.
extension OAuthCredential: Codable {
    private enum CodingKeys: String, CodingKey {
        case accessToken, refreshToken, tokenType, scope, lifetime, receivedAt, fields
    }

    /// A `Duration` as two numbers, since a single `Double` would round it.
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
            receivedAt: Date(timeIntervalSinceReferenceDate: receivedAt),
            // Records from before this field existed have none.
            fields: try container.decodeIfPresent([String: String].self, forKey: .fields) ?? [:]
        )
    }

    /// Writes the time of receipt as seconds since 2001. `Date` itself counts so, and any other number would be
    /// rounded.
    ///
    /// - Throws: `EncodingError` when the time of receipt is not a number.
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
        if !fields.isEmpty { try container.encode(fields, forKey: .fields) }
    }
}

/// The scope of a credential: a set of scope tokens (RFC 6749 §3.3).
///
/// ```swift
/// let scope: OAuthScope = ["notes.read", "notes.write"]
/// scope.contains("notes.write")  // true
/// ```
public struct OAuthScope: Hashable, Sendable {
    /// The tokens, sorted and without duplicates.
    public let tokens: [String]

    /// Creates a scope of these tokens; empty ones are left out.
    public init(_ tokens: some Sequence<String>) {
        self.tokens = Set(tokens.filter { !$0.isEmpty }).sorted()
    }

    /// Reads a list of tokens separated by spaces, as servers send it.
    public init(parsing text: String) {
        self.init(text.split(separator: " ").map(String.init))
    }

    /// Whether there is no token at all.
    public var isEmpty: Bool { tokens.isEmpty }

    /// Whether the scope allows `token`.
    public func contains(_ token: String) -> Bool { tokens.contains(token) }
}

extension OAuthScope: ExpressibleByArrayLiteral, CustomStringConvertible {
    /// Creates a scope of these tokens.
    public init(arrayLiteral tokens: String...) { self.init(tokens) }

    /// The tokens, separated by spaces, as they are sent.
    public var description: String { tokens.joined(separator: " ") }
}

extension OAuthScope: Codable {
    /// Reads what ``encode(to:)`` wrote.
    public init(from decoder: any Decoder) throws {
        self.init(parsing: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the tokens as one text, separated by spaces.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
