import Foundation
import Nautilus

/// A session whose credential comes from an authorization server: a `Session` whose rules are those of a
/// ``TokenEndpoint``.
///
/// ```swift
/// struct NotesService { let session: OAuthSession }
/// extension NotesService: HttpService {
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var retrierFactory: any RetrierFactory { session.retrierFactory }
/// }
/// ```
/// Errors of the authorization server are thrown as ``OAuthError``, those of the store and of other processes as
/// `SessionError`.
public typealias OAuthSession = Session<OAuthCredential>

/// How an expired credential is replaced.
public enum OAuthRefresh: Hashable, Sendable {
    /// By its refresh token (RFC 6749 §6).
    case refreshToken
    /// By asking for another one, which a client does on its own behalf (RFC 6749 §4.4); nil for the server's own
    /// scope.
    case clientCredentials(scope: OAuthScope?)
}

extension Session where Credential == OAuthCredential {
    /// Creates a session. Nothing is read or sent before the session is used.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint that credentials come from. The session uses its clock, too.
    ///   - store: The store of the credential. Default: in memory, so that nothing is written unless you ask for it.
    ///   - account: The account, where an app has several. Default: empty, for one account at a time.
    ///   - origins: The origins to which the access token may be sent. Default: `CredentialOrigins.first`, the first
    ///     one it is sent to; name all origins of an API that has several.
    ///   - refresh: How an expired credential is replaced. Default: by its refresh token.
    ///   - sharing: How the session shares the credential with other processes. Default: that of `CredentialSharing`.
    ///   - limits: The limits of refreshing. Default: those of `Session`.
    ///   - random: The source of jitter. Default: the system's generator.
    ///   - observer: An observer of the starts and ends of refreshes. Default: none.
    public convenience init(
        endpoint: TokenEndpoint,
        store: any CredentialStore = MemoryStore(),
        account: String = "",
        origins: CredentialOrigins = .first,
        refresh: OAuthRefresh = .refreshToken,
        sharing: CredentialSharing = CredentialSharing(),
        limits: RefreshLimits = RefreshLimits(timeLimit: .seconds(90)),
        random: any RandomSource = .system,
        observer: any CallObserver = .none
    ) {
        self.init(
            key: CredentialKey(issuer: endpoint.server.issuer, client: endpoint.client.id, account: account),
            rules: endpoint.sessionRules(refresh),
            store: store,
            origins: origins,
            sharing: sharing,
            limits: limits,
            clock: endpoint.clock,
            random: random,
            observer: observer
        )
    }

    /// The `Authorization` header as of now, for code that sends its own requests; empty when nobody is signed in.
    /// Neither looks at the store nor refreshes: prefer `credential(continuing:)`.
    public var header: HttpHeader {
        current.map { [.authorization: "Bearer \($0.credential.accessToken)"] } ?? [:]
    }
}

extension TokenEndpoint {
    /// The session rules of credentials from this endpoint, for a `Session` that you create yourself.
    ///
    /// - Parameter refresh: How an expired credential is replaced. Default: by its refresh token.
    public func sessionRules(_ refresh: OAuthRefresh = .refreshToken) -> SessionRules<OAuthCredential> {
        var revocation: (@Sendable (OAuthCredential) async throws -> Void)?
        if server.revocationEndpoint != nil { revocation = { try await revoke($0) } }
        return SessionRules(
            authorize: { credential, request in
                // A token of another type must not be used as a Bearer token (RFC 6749 §7.1).
                guard rules.accepts(credential.tokenType) else {
                    throw OAuthError(.malformedReply(reason: "the token's type is not Bearer"))
                }
                request.header[.authorization] = "Bearer \(credential.accessToken)"
            },
            // A credential that nothing can replace is used until the server rejects it: no clock ends a session.
            lifetime: { credential in
                if refresh == .refreshToken, credential.refreshToken == nil { return nil }
                return credential.remainingLifetime(at: wallClock())
            },
            // Asking for another token by client credentials spends nothing.
            spendsCredential: refresh == .refreshToken,
            classify: { error in (error as? OAuthError).map { RefreshOutcome(of: $0) } ?? RefreshOutcome(error) },
            insufficiency: { failure -> (any Error)? in failure.insufficiency.map { OAuthError($0) } },
            revoke: revocation,
            sharesGrant: { $0.refreshToken != nil && $0.refreshToken == $1.refreshToken },
            refresh: { try await refreshed($0, by: refresh) }
        )
    }

    private func refreshed(_ credential: OAuthCredential, by kind: OAuthRefresh) async throws -> OAuthCredential {
        do throws(OAuthError) {
            switch kind {
            case .refreshToken: return try await refresh(credential)
            case .clientCredentials(let scope):
                var fresh = try await clientCredentials(scope: scope)
                fresh.keepFields(of: credential)
                return fresh
            }
        } catch {
            guard error.endsSession else { throw error }
            // This way, the coordinator's error also says why.
            throw RefreshError.Terminal(error.description, underlying: error)
        }
    }
}

extension RefreshOutcome {
    init(of error: OAuthError) {
        self =
            switch error.kind {
            case .invalidGrant, .noRefreshToken: .ended
            case .answerLost: .answerLost
            case .cancelled: error.httpError.map { $0.delivery != .notSent } ?? false ? .unclear : .notRefreshed
            // A gateway has lost the answer of the server behind it.
            case .unavailable: [502, 504].contains(error.httpError?.status) ? .unclear : .notRefreshed
            case .malformedReply: error.isCutReply ? .unclear : .notRefreshed
            default: .notRefreshed
            }
    }
}

extension HttpError {
    /// The right that the credential lacks, by the service's own origin: a scope (RFC 6750 §3.1), or an authentication
    /// of the user (RFC 9470 §3); nil when the failure is a different one.
    var insufficiency: OAuthError.Kind? {
        guard let request = exchange?.request ?? request, request.isToServiceOrigin else { return nil }
        guard let response, [401, 403].contains(response.status) else { return nil }
        if response.isFromElsewhere(than: request.origin) { return nil }
        for challenge in response.header.challenges where challenge.scheme == "bearer" {
            switch challenge["error"]?.lowercased() {
            case "insufficient_scope":
                return .insufficientScope(OAuthScope(parsing: challenge["scope"] ?? ""))
            case "insufficient_user_authentication":
                let values = challenge["acr_values"]?.split(separator: " ").map(String.init) ?? []
                let maxAge = challenge["max_age"].flatMap { UInt32($0) }
                return .insufficientAuthentication(acrValues: values, maxAge: maxAge.map { .seconds(Int64($0)) })
            default: continue
            }
        }
        return nil
    }
}
