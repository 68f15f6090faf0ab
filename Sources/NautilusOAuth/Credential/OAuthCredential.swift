import Foundation
import Nautilus

/// The credential of a user, or of a client itself: the reply of a token endpoint (RFC 6749 §5.1).
///
/// Its lifetime counts from its receipt. Within a process, the coordinator measures it on a monotonic clock; the wall
/// clock is consulted only for a credential that was stored by another run, see ``remainingLifetime(at:)``.
public struct OAuthCredential: Hashable, Sendable {
    /// The token that authorizes a request.
    public let accessToken: String
    /// The token that the next refresh spends; nil when the server issues none.
    public let refreshToken: String?
    /// How the access token is used, as the server writes it; only `Bearer` (RFC 6750) is sent, and what
    /// ``OAuthRules/tokenTypes`` adds. With another type, calls fail and nothing is sent; the session keeps the
    /// credential, since the old token may have been rotated away.
    public let tokenType: String
    /// The scope of the access token; nil when the server does not say, which means the scope that was asked for (RFC
    /// 6749 §5.1).
    public let scope: OAuthScope?
    /// How long the credential lasts, counted from ``receivedAt``. Nil, which means no expiry, when the server does not
    /// say or its value makes no sense (an `expires_in` below a second, or not a number): a rejected token is refreshed
    /// anyway.
    public let lifetime: Duration?
    /// When the credential was received, on this device's wall clock; only ever compared with the same clock.
    public let receivedAt: Date
    /// The other fields of the server's reply, such as `id_token` or `instance_url`: texts as they are, anything else as
    /// its JSON text. A field that a refresh leaves out stays as it was. Stored with the credential, and never printed.
    public let fields: [String: String]

    /// Creates a credential, for example from another library's storage.
    ///
    /// - Parameters:
    ///   - accessToken: The token that authorizes a request.
    ///   - refreshToken: The token that the next refresh spends. Default: nil, there is none.
    ///   - tokenType: How the access token is used. Default: `Bearer`.
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

    /// The same credential with the fields of an older one that it does not have itself.
    func keepingFields(of old: OAuthCredential) -> OAuthCredential {
        OAuthCredential(
            accessToken: accessToken,
            refreshToken: refreshToken,
            tokenType: tokenType,
            scope: scope,
            lifetime: lifetime,
            receivedAt: receivedAt,
            fields: old.fields.merging(fields) { $1 }
        )
    }

    /// Ten thousand years: nothing lasts longer, and sums stay far from the largest `Duration`, where arithmetic traps.
    static let maxLifetime = Duration.seconds(Int64(315_576_000_000))

    /// The rest of the lifetime; zero when it is over, nil when there is no expiry.
    ///
    /// A wall clock can be wrong, or be set meanwhile. If it was set back, the credential lasts no longer than its full
    /// lifetime from now; if it was set forward, that costs one refresh. Neither error repeats itself, since the
    /// credential that a refresh brings is measured on a monotonic clock.
    public func remainingLifetime(at now: Date) -> Duration? {
        lifetime.map { lifetime in
            let elapsed = max(0, now.timeIntervalSince(receivedAt))
            // A clock that is off by centuries must not cause an overflow.
            return max(.zero, lifetime - .seconds(min(elapsed, 3_155_760_000)))
        }
    }
}

extension OAuthCredential: Redacted {
    /// Type, scope and lifetime; never a token or another field.
    public var description: String {
        var parts = [tokenType, refreshToken == nil ? "without refresh token" : "with refresh token"]
        if let scope { parts.append("scope \"\(scope)\"") }
        if let lifetime { parts.append("lifetime \(lifetime.components.seconds) s") }
        return "OAuthCredential(\(parts.joined(separator: ", ")))"
    }
}

/// The stored form of a credential, independent of its properties: renaming a property does not change what is stored,
/// every duration and date comes back exactly, and numbers too large to calculate with are refused.
extension OAuthCredential: Codable {
    private enum CodingKeys: String, CodingKey {
        case accessToken, refreshToken, tokenType, scope, lifetime, receivedAt, fields
    }

    /// A `Duration` in two numbers, since a single number would be rounded.
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

    /// Writes the time of receipt as seconds since 2001, as `Date` itself counts them: any other count would be
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

/// The scope of a credential: scope tokens, in no particular order, each once (RFC 6749 §3.3).
///
/// ```swift
/// let scope: OAuthScope = ["notes.read", "notes.write"]
/// scope.contains("notes.write")  // true
/// ```
public struct OAuthScope: Hashable, Sendable {
    /// The tokens, sorted, each once.
    public let tokens: [String]

    /// Creates a scope of these tokens; empty ones are left out.
    public init(_ tokens: some Sequence<String>) {
        self.tokens = Set(tokens.filter { !$0.isEmpty }).sorted()
    }

    /// Reads a list of tokens separated by blanks, as servers send it.
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

    /// The tokens, separated by blanks, as they are sent.
    public var description: String { tokens.joined(separator: " ") }
}

extension OAuthScope: Codable {
    /// Reads what ``encode(to:)`` wrote.
    public init(from decoder: any Decoder) throws {
        self.init(parsing: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the tokens as one text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
