import Foundation
import Nautilus

/// An authorization server's endpoints: its metadata (RFC 8414 §2).
///
/// ```swift
/// let server = AuthorizationServer(issuer: "https://id.example.com", tokenEndpoint: "https://id.example.com/token")
/// let found = try await AuthorizationServer.discover(issuer: "https://id.example.com")
/// ```
/// Every URL has to be `https`, or `http` to this machine. That is checked before anything is sent to it, rather than
/// here, so that a server can be a constant.
public struct AuthorizationServer: Hashable, Sendable {
    /// The issuer's URL, as the server itself writes it; it is compared byte by byte.
    public let issuer: String
    /// The endpoint that issues and refreshes tokens.
    public let tokenEndpoint: String
    /// The page on which a browser signs in; nil when the server has none, or it is not known.
    public let authorizationEndpoint: String?
    /// The endpoint that gives a device its code (RFC 8628 §4); nil when the server has none, or it is not known.
    public let deviceAuthorizationEndpoint: String?
    /// The endpoint that revokes tokens (RFC 7009); nil when the server has none, or it is not known.
    public let revocationEndpoint: String?
    /// Whether every redirect names the issuer (RFC 9207 §3); a redirect without it is then refused.
    public let namesIssuerInRedirects: Bool
    /// The proof methods of RFC 7636 that the server accepts (`code_challenge_methods_supported`); nil when it does not
    /// say.
    public let codeChallengeMethods: [String]?

    /// Creates a server whose endpoints are known.
    ///
    /// - Parameters:
    ///   - issuer: The issuer's URL, as the server itself writes it.
    ///   - tokenEndpoint: The endpoint that issues and refreshes tokens.
    ///   - authorizationEndpoint: The page on which a browser signs in. Default: nil, no sign-in by browser.
    ///   - deviceAuthorizationEndpoint: The endpoint that gives a device its code. Default: nil, no sign-in by device.
    ///   - revocationEndpoint: The endpoint that revokes tokens. Default: nil, many servers have none.
    ///   - namesIssuerInRedirects: Whether every redirect names the issuer. Default: false, since most servers do not
    ///     name it; an issuer that is named is checked all the same.
    ///   - codeChallengeMethods: The proof methods that the server accepts. Default: nil, unknown; S256 is used.
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

extension AuthorizationServer: Redacted {
    /// The issuer; the endpoints' URLs may have queries, which are never printed.
    public var description: String { "AuthorizationServer(\(issuer))" }
}

extension AuthorizationServer {
    /// Asks an issuer for its metadata (RFC 8414 §3).
    ///
    /// - Parameters:
    ///   - issuer: The issuer's URL, `https`, as the server itself writes it.
    ///   - document: The document to read. Default: that of RFC 8414.
    ///   - transport: The transport that moves bytes. Default: the process's shared transport.
    ///   - retrierFactory: The retriers that repeat the request. Default: backoff with 3 attempts, as for tokens.
    ///   - clock: The clock that measures time and sleeps. Default: `ContinuousClock`, as for every service.
    /// - Throws: ``OAuthError``: ``OAuthError/Kind/issuerMismatch`` when the document is another issuer's (§3.3),
    ///   ``OAuthError/Kind/noEndpoint(name:)`` when it names no token endpoint, ``OAuthError/Kind/insecureUrl`` when
    ///   one of the URLs, or the issuer, is plain `http`.
    public static func discover(
        issuer: String,
        document: MetadataDocument = .oauth,
        transport: any HttpTransport = .platform,
        retrierFactory: any RetrierFactory = BackoffRetrier.factory(.standard.with { $0.maxAttempts = 3 }),
        clock: any Clock<Duration> = DefaultClock.current
    ) async throws(OAuthError) -> AuthorizationServer {
        let service = AnyHttpService(
            apiUrl: try document.url(of: issuer).text,
            retrierFactory: retrierFactory,
            transport: LimitedTransport(base: transport),
            clock: clock
        )
        let response: HttpResponse<Data>
        do throws(HttpError) {
            response = try await MetadataRequest().response(with: service)
        } catch {
            throw OAuthError(error, spends: false)
        }
        let metadata: ServerMetadata
        do throws(MalformedReply) {
            metadata = try ServerMetadata(response.body, contentType: response.header.mediaType?.essence)
        } catch {
            throw OAuthError(response, error)
        }
        return try metadata.server(of: issuer)
    }
}

/// The metadata of an authorization server (RFC 8414 §2), as far as it is used here.
struct ServerMetadata: Sendable {
    let issuer: String
    let tokenEndpoint: String?
    let authorizationEndpoint: String?
    let deviceAuthorizationEndpoint: String?
    let revocationEndpoint: String?
    let namesIssuerInRedirects: Bool
    let codeChallengeMethods: [String]?

    /// Reads a document.
    ///
    /// - Throws: ``MalformedReply``.
    init(_ body: Data, contentType: String?) throws(MalformedReply) {
        let fields = try ReplyFields(body, contentType: contentType)
        issuer = try fields.requiredText("issuer")
        tokenEndpoint = try fields.text("token_endpoint")
        authorizationEndpoint = try fields.text("authorization_endpoint")
        deviceAuthorizationEndpoint = try fields.text("device_authorization_endpoint")
        revocationEndpoint = try fields.text("revocation_endpoint")
        namesIssuerInRedirects = fields.isTrue("authorization_response_iss_parameter_supported")
        codeChallengeMethods = fields.texts("code_challenge_methods_supported")
    }

    /// The server, if the document is that of the issuer that was asked and all its URLs can be used.
    ///
    /// - Throws: ``OAuthError``.
    func server(of expected: String) throws(OAuthError) -> AuthorizationServer {
        // Compared as bytes (§3.3): anyone who can put a document there could otherwise pass for another issuer.
        guard issuer.utf8.elementsEqual(expected.utf8) else { throw OAuthError(.issuerMismatch) }
        return AuthorizationServer(
            issuer: issuer,
            tokenEndpoint: try EndpointUrl(tokenEndpoint, name: "token_endpoint").text,
            authorizationEndpoint: try Self.checked(authorizationEndpoint, "authorization_endpoint"),
            deviceAuthorizationEndpoint: try Self.checked(deviceAuthorizationEndpoint, "device_authorization_endpoint"),
            revocationEndpoint: try Self.checked(revocationEndpoint, "revocation_endpoint"),
            namesIssuerInRedirects: namesIssuerInRedirects,
            codeChallengeMethods: codeChallengeMethods
        )
    }

    private static func checked(_ text: String?, _ name: String) throws(OAuthError) -> String? {
        guard let text else { return nil }
        return try EndpointUrl(text, name: name).text
    }
}

/// The document that ``AuthorizationServer/discover(issuer:document:transport:retrierFactory:clock:)`` reads from an
/// issuer.
public enum MetadataDocument: Hashable, Sendable {
    /// RFC 8414: `https://id.example.com/.well-known/oauth-authorization-server/tenant`.
    case oauth
    /// OpenID Connect Discovery §4: `https://id.example.com/tenant/.well-known/openid-configuration`. The same fields
    /// are read; some servers have only this document.
    case openId

    /// The document's URL.
    ///
    /// - Throws: ``OAuthError/Kind/insecureUrl``, ``OAuthError/Kind/invalidParameter(reason:)``.
    func url(of issuer: String) throws(OAuthError) -> EndpointUrl {
        guard !issuer.utf8.contains(UInt8(ascii: "?")), let slashes = issuer.range(of: "://") else {
            // Required by §2 of the RFC.
            throw OAuthError(.invalidParameter(reason: "issuer: it must be an absolute URL without a query"))
        }
        _ = try EndpointUrl(issuer, name: "issuer")
        // A slash at the end is not part of the issuer's path (§3.1).
        let issuer = issuer.utf8.last == UInt8(ascii: "/") ? issuer.dropLast() : issuer[...]
        let end = issuer.utf8[slashes.upperBound...].firstIndex(of: UInt8(ascii: "/")) ?? issuer.endIndex
        let text =
            switch self {
            case .oauth: "\(issuer[..<end])/.well-known/oauth-authorization-server\(issuer[end...])"
            case .openId: "\(issuer)/.well-known/openid-configuration"
            }
        return try EndpointUrl(text, name: "issuer")
    }
}

/// Asks for an issuer's metadata. It contains no secret, so redirects are followed: wherever the document comes from,
/// it has to name the issuer that was asked.
struct MetadataRequest: Request {
    typealias Result = Data
    var route: HttpRoute { [] }

    var header: HttpHeader { [.accept: "application/json"] }
    /// The limits of ``TokenEndpoint``, since a user waits for a sign-in.
    var timeout: Duration? { .seconds(20) }
    var deadline: Duration? { .seconds(25) }
}
