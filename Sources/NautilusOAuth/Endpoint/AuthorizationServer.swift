import Nautilus

/// Where an authorization server takes which request: its metadata (RFC 8414 §2).
///
/// ```swift
/// let server = AuthorizationServer(issuer: "https://id.example.com", tokenEndpoint: "https://id.example.com/token")
/// let found = try await AuthorizationServer.discover(issuer: "https://id.example.com")
/// ```
/// Every URL has to be `https`, or `http` to this machine. That is checked before anything is sent to it, not here, so
/// that a server can be a constant.
public struct AuthorizationServer: Hashable, Sendable {
    /// The issuer's URL, as the server itself writes it: compared byte by byte.
    public let issuer: String
    /// Where tokens are issued and refreshed.
    public let tokenEndpoint: String
    /// Where a browser goes to sign in; nil when the server has none, or it is not known.
    public let authorizationEndpoint: String?
    /// Where a device asks for a code (RFC 8628 §4); nil when the server has none, or it is not known.
    public let deviceAuthorizationEndpoint: String?
    /// Where tokens are revoked (RFC 7009); nil when the server has none, or it is not known.
    public let revocationEndpoint: String?
    /// Whether every redirect names the issuer (RFC 9207 §3), so that one which does not is refused.
    public let namesIssuerInRedirects: Bool
    /// The ways of proof of RFC 7636 that it takes (`code_challenge_methods_supported`); nil when it does not say.
    public let codeChallengeMethods: [String]?

    /// Creates a server whose endpoints are known.
    ///
    /// - Parameters:
    ///   - issuer: The issuer's URL, as the server itself writes it.
    ///   - tokenEndpoint: Where tokens are issued and refreshed.
    ///   - authorizationEndpoint: Where a browser goes to sign in. Default: nil, nobody signs in by a browser.
    ///   - deviceAuthorizationEndpoint: Where a device asks for a code. Default: nil, no device does.
    ///   - revocationEndpoint: Where tokens are revoked. Default: nil, many servers have none.
    ///   - namesIssuerInRedirects: Whether every redirect names the issuer. Default: false: most servers do not, and one
    ///     that does is checked all the same.
    ///   - codeChallengeMethods: The ways of proof that it takes. Default: nil, unknown: S256 is used.
    public init(
        issuer: String,
        tokenEndpoint: any UrlConvertible,
        authorizationEndpoint: (any UrlConvertible)? = nil,
        deviceAuthorizationEndpoint: (any UrlConvertible)? = nil,
        revocationEndpoint: (any UrlConvertible)? = nil,
        namesIssuerInRedirects: Bool = false,
        codeChallengeMethods: [String]? = nil
    ) {
        self.issuer = issuer
        self.tokenEndpoint = tokenEndpoint.urlString
        self.authorizationEndpoint = authorizationEndpoint?.urlString
        self.deviceAuthorizationEndpoint = deviceAuthorizationEndpoint?.urlString
        self.revocationEndpoint = revocationEndpoint?.urlString
        self.namesIssuerInRedirects = namesIssuerInRedirects
        self.codeChallengeMethods = codeChallengeMethods
    }
}

extension AuthorizationServer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The issuer; the endpoints' URLs may have queries, which are never printed.
    public var description: String { "AuthorizationServer(\(issuer))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["server": description]) }
}
