import Nautilus

/// An authorization server's endpoints: its metadata (RFC 8414 §2).
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
    /// The endpoint that issues and refreshes tokens.
    public let tokenEndpoint: String
    /// The page on which a browser signs in; nil when the server has none, or it is not known.
    public let authorizationEndpoint: String?
    /// The endpoint that gives a device its code (RFC 8628 §4); nil when the server has none, or it is not known.
    public let deviceAuthorizationEndpoint: String?
    /// The endpoint that revokes tokens (RFC 7009); nil when the server has none, or it is not known.
    public let revocationEndpoint: String?
    /// Whether every redirect names the issuer (RFC 9207 §3), so that one which does not is refused.
    public let namesIssuerInRedirects: Bool
    /// The ways of proof of RFC 7636 that it takes (`code_challenge_methods_supported`); nil when it does not say.
    public let codeChallengeMethods: [String]?

    /// Creates a server whose endpoints are known.
    ///
    /// - Parameters:
    ///   - issuer: The issuer's URL, as the server itself writes it.
    ///   - tokenEndpoint: The endpoint that issues and refreshes tokens.
    ///   - authorizationEndpoint: The page on which a browser signs in. Default: nil, no sign-in by browser.
    ///   - deviceAuthorizationEndpoint: The endpoint that gives a device its code. Default: nil, no sign-in by device.
    ///   - revocationEndpoint: The endpoint that revokes tokens. Default: nil, many servers have none.
    ///   - namesIssuerInRedirects: Whether every redirect names the issuer. Default: false: most servers do not, and
    ///     one that does is checked all the same.
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
