import Foundation
import Nautilus

/// A session whose credential comes from an authorization server: a `Session`, with a ``TokenEndpoint`` as its rules.
///
/// ```swift
/// struct NotesService: HttpService {
///     let session: OAuthSession
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var retrierFactory: any RetrierFactory { session.retrierFactory }
/// }
/// ```
/// Errors of the authorization server are an ``OAuthError``, those of the store and of other processes a
/// `SessionError`.
public typealias OAuthSession = Session<OAuthCredential>

/// How an expired credential is replaced.
public enum OAuthRenewal: Hashable, Sendable {
    /// By its refresh token (RFC 6749 §6).
    case refreshToken
    /// By asking for another one, which a client does for itself (RFC 6749 §4.4); nil for the server's own scope.
    case clientCredentials(scope: OAuthScope?)
}

extension Session where Credential == OAuthCredential {
    /// Creates a session. Nothing is read or sent before it is used.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint that credentials come from. Its clock is the session's, too.
    ///   - store: The store of the credential. Default: in memory, so that nothing is written unless it is asked for.
    ///   - account: The account, where an app has several. Default: empty, for one account at a time.
    ///   - origins: The origins to which the access token may be sent. Default: `CredentialOrigins.first`, the first
    ///     one it is sent to; name all origins of an API that has several.
    ///   - renewal: How an expired credential is replaced. Default: by its refresh token.
    ///   - sharing: How it shares the credential with other processes. Default: that of `CredentialSharing`.
    ///   - limits: The bounds of refreshing. Default: those of `Session`.
    ///   - random: The source of jitter. Default: the system's generator.
    ///   - observer: An observer of the starts and ends of refreshes. Default: none.
    public convenience init(
        endpoint: TokenEndpoint,
        store: any CredentialStore = MemoryStore(),
        account: String = "",
        origins: CredentialOrigins = .first,
        renewal: OAuthRenewal = .refreshToken,
        sharing: CredentialSharing = CredentialSharing(),
        limits: RefreshLimits = RefreshLimits(timeLimit: .seconds(90)),
        random: any RandomSource = SystemRandomSource(),
        observer: any CallObserver = NilCallObserver()
    ) {
        self.init(
            key: CredentialKey(issuer: endpoint.server.issuer, client: endpoint.client.id, account: account),
            rules: endpoint.sessionRules(renewal),
            store: store,
            origins: origins,
            sharing: sharing,
            limits: limits,
            clock: endpoint.clock,
            random: random,
            observer: observer
        )
    }

    /// `Authorization` as of now, for code that sends its own requests; empty when nobody is signed in. It does not
    /// look at the store and refreshes nothing: prefer `grant(continuing:)`.
    public var header: HttpHeader {
        current.map { [.authorization: "Bearer \($0.credential.accessToken)"] } ?? [:]
    }
}
