import Foundation
import Nautilus

/// A bearer token (RFC 6750) with the one that refreshes it, as servers with a login of their own give them.
///
/// ```swift
/// let rules = SessionRules.bearer { refreshToken in
///     try await RefreshToken(refreshToken: refreshToken).schedule(with: api)  // its result is a BearerToken
/// }
/// let session = Session(key: CredentialKey(issuer: "https://api.example.com"), rules: rules, store: store)
/// ```
/// It is decoded from what the server answers, and stored as well: `access_token` or `token`, `refresh_token`, and
/// `expires_in`, a number of seconds from now, or `expires_at`, seconds or milliseconds since 1970 or a date as the
/// service's coders read it. Names in camel case are read, too. For other names, have the request's `decode` make the
/// token; for what else an answer brings, write a `Codable` type of your own.
public struct BearerToken: Hashable, Sendable {
    /// The token that authorizes a request.
    public let accessToken: String
    /// The token that the next refresh spends; nil when the server has given none: then only a sign-in brings another
    /// one.
    public let refreshToken: String?
    /// When the access token expires, by this device's clock; nil when the server does not say: then it serves until it
    /// is rejected.
    public let expires: Date?

    /// Creates a token, as from another library's storage.
    ///
    /// - Parameters:
    ///   - accessToken: The token that authorizes a request.
    ///   - refreshToken: The token that the next refresh spends. Default: nil, there is none.
    ///   - expires: When the access token expires. A date before 1970 counts as 1970, and one after the year 9999 as
    ///     unknown, as they do when they are stored. Default: nil, unknown.
    public init(accessToken: String, refreshToken: String? = nil, expires: Date? = nil) {
        (self.accessToken, self.refreshToken) = (accessToken, refreshToken)
        self.expires = expires.flatMap { Self.date(max(0, $0.timeIntervalSince1970)) }
    }

    /// Creates a token from an answer with names of its own, which counts from now.
    ///
    /// - Parameters:
    ///   - accessToken: The token that authorizes a request.
    ///   - refreshToken: The token that the next refresh spends; nil, there is none.
    ///   - lifetime: For how long the access token serves; nil, unknown.
    public init(accessToken: String, refreshToken: String?, expiresIn lifetime: Duration?) {
        let expires = lifetime.flatMap { Self.expiry(in: $0 / .seconds(1)) }
        self.init(accessToken: accessToken, refreshToken: refreshToken, expires: expires)
    }

    /// The value of `Authorization`, for requests that the session does not authorize, such as its own revocation.
    public var authorization: String { "Bearer \(accessToken)" }

    /// The rest of the lifetime; zero or less when it is over. Nil for no expiry, and where nothing could refresh it:
    /// no clock ends a session.
    var lifetime: Duration? {
        guard refreshToken != nil, let expires else { return nil }
        return .until(expires)
    }

    fileprivate static var century: TimeInterval { 3_155_760_000 }
}

extension SessionRules where Credential == BearerToken {
    /// The rules of a bearer token: `Authorization: Bearer …`, its lifetime, and a refresh that spends its refresh
    /// token.
    ///
    /// - Parameters:
    ///   - spendsCredential: As in ``SessionRules``. Default: true.
    ///   - classify: As in ``SessionRules``. Default: ``RefreshOutcome/init(_:)``.
    ///   - revoke: Has the server forget a token, as in ``SessionRules``. Default: nil, the server is not told.
    ///   - refresh: Obtains the replacement for a token, as in ``SessionRules``. An answer without a refresh
    ///     token leaves the one that was spent in place (RFC 6749 §6). Not called for a token without one: the session
    ///     ends.
    public static func bearer(
        spendsCredential: Bool = true,
        classify: @escaping @Sendable (_ error: any Error) -> RefreshOutcome = { RefreshOutcome($0) },
        revoke: (@Sendable (_ token: BearerToken) async throws -> Void)? = nil,
        refresh: @escaping @Sendable (_ refreshToken: String) async throws -> BearerToken
    ) -> SessionRules {
        SessionRules(
            authorize: { token, request in request.header[.authorization] = token.authorization },
            lifetime: \.lifetime,
            spendsCredential: spendsCredential,
            classify: classify,
            revoke: revoke,
            sharesGrant: { $0.refreshToken != nil && $0.refreshToken == $1.refreshToken },
            refresh: { token in
                guard let spent = token.refreshToken else { throw RefreshError.Terminal("there is no refresh token") }
                let fresh = try await refresh(spent)
                guard fresh.refreshToken == nil else { return fresh }
                return BearerToken(accessToken: fresh.accessToken, refreshToken: spent, expires: fresh.expires)
            }
        )
    }
}

extension BearerToken: Redacted {
    /// Whether it can be refreshed and when it expires; never a token.
    public var description: String {
        let kind = refreshToken == nil ? "without refresh token" : "with refresh token"
        return "BearerToken(\(kind)\(expires.map { ", expires \($0)" } ?? ""))"
    }
}

extension BearerToken: Codable {
    /// A name in an answer, or in what is stored.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }

        /// Both spellings: the server's, and the one seen by a decoder that converts from snake case.
        static func both(_ snake: String, _ camel: String) -> [Name] {
            [Name(stringValue: snake), Name(stringValue: camel)]
        }
    }

    /// Reads a server's answer, and what ``encode(to:)`` wrote.
    ///
    /// An expiry that cannot be read counts as none: to refuse the answer would lose a refresh token that may have been
    /// rotated for it, and the worst that follows is a 401 and a refresh.
    ///
    /// - Throws: `DecodingError` when there is no access token, or one with characters that no header takes.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Name.self)
        func first<Value: Decodable>(_ names: [Name], as type: Value.Type) -> Value? {
            names.lazy.compactMap { try? values.decodeIfPresent(type, forKey: $0) }.first
        }
        func number(_ names: [Name]) -> Double? {
            first(names, as: Double.self) ?? first(names, as: String.self).flatMap(Double.init)
        }
        let tokens = Name.both("access_token", "accessToken") + [Name(stringValue: "token")]
        let token = try values.decode(String.self, forKey: tokens.first { values.contains($0) } ?? tokens[0])
        guard !token.isEmpty, token.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
            let context = DecodingError.Context(codingPath: values.codingPath, debugDescription: "not an access token")
            throw DecodingError.dataCorrupted(context)
        }
        let (inNames, atNames) = (Name.both("expires_in", "expiresIn"), Name.both("expires_at", "expiresAt"))
        let refreshToken = first(Name.both("refresh_token", "refreshToken"), as: String.self)
        // Another decoder would take a number for seconds since 2001.
        var expires = number(atNames).map(Self.moment) ?? first(atNames, as: Date.self)
        if let seconds = number(inNames), seconds >= 1 { expires = Self.expiry(in: seconds) }
        self.init(
            accessToken: token,
            refreshToken: refreshToken.flatMap { $0.isEmpty ? nil : $0 },
            expires: expires
        )
    }

    /// Writes the names that servers use, with `expires_at`.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Name.self)
        try values.encode(accessToken, forKey: Name(stringValue: "access_token"))
        try values.encodeIfPresent(refreshToken, forKey: Name(stringValue: "refresh_token"))
        try values.encodeIfPresent(expires?.timeIntervalSince1970, forKey: Name(stringValue: "expires_at"))
    }

    /// A moment since 1970: more than eleven digits are milliseconds.
    private static func moment(_ number: Double) -> Date? {
        date(number < 1e11 ? number : (number / 1000).rounded(.down))
    }

    /// So many seconds from now, in whole seconds, so that it comes back from a store as it was.
    private static func expiry(in seconds: Double) -> Date? {
        date((DefaultClock.date.timeIntervalSince1970 + min(seconds, century)).rounded(.down))
    }

    /// Nil for a date outside the years 1970 to 9999.
    private static func date(_ seconds: Double) -> Date? {
        Date.writableSeconds.contains(seconds) ? Date(timeIntervalSince1970: seconds) : nil
    }
}
