import Foundation
import Nautilus

/// The token endpoint of an authorization server, with the ways to obtain a credential from it (RFC 6749).
/// ```swift
/// let endpoint = TokenEndpoint(server: server, client: OAuthClient(id: "notes-ios"))
/// let fresh = try await endpoint.refresh(credential)
/// ```
/// It stores nothing: ``OAuthSession`` decides when to refresh, and keeps the credential. Its requests are calls like
/// any other, but they follow no redirect, which would carry secrets elsewhere, and have no `Idempotency-Key`. So a
/// `BackoffRetrier` repeats only requests that certainly did not run: no connection, 429, 503 with `Retry-After`. A
/// refresh whose answer is lost is not sent again: a server that rotates refresh tokens takes the second use for theft
/// (RFC 9700 §4.14.2). A reply of more than 256 KiB counts as a lost answer. The guide `OAuth` says how replies that
/// deviate from the standard are read.
public struct TokenEndpoint: Sendable {
    /// The server that requests go to.
    public let server: AuthorizationServer
    /// The client that sends them.
    public let client: OAuthClient
    /// How the server's answers are read.
    public let rules: OAuthRules

    let transport: any HttpTransport
    let retrierFactory: any RetrierFactory
    let clock: any Clock<Duration>
    let wallClock: @Sendable () -> Date
    let signInTimeout: Duration
    let refreshTimeout: Duration
    let deadline: Duration
    /// The source of states and verifiers; replaced by tests only.
    var randomness = Randomness.system

    /// Creates an endpoint.
    ///
    /// - Parameters:
    ///   - server: The server that requests go to.
    ///   - client: The client that sends them.
    ///   - rules: How the server's answers are read. Default: as the standard has them.
    ///   - transport: The transport that moves bytes. Default: the process's shared transport.
    ///   - retrierFactory: Repeats requests that did not run. Default: backoff with 3 attempts, as the deadline allows.
    ///   - clock: Measures time and sleeps. Default: `ContinuousClock`: tokens also expire during sleep.
    ///   - wallClock: Tells when a credential was received. Default: the system's.
    ///   - signInTimeout: The time limit of an exchange other than a refresh, including a revocation. Default: 20 s,
    ///     longer than a healthy server takes; a code spent in vain costs the user another sign-in.
    ///   - refreshTimeout: The time limit of an exchange with a refresh token. Default: 7 s, so that the token can be
    ///     sent again within the 10 s that servers with a grace period allow. A slower server without one needs a
    ///     longer limit.
    ///   - deadline: The time limit of a request with its retries. Default: 25 s, less than the 30 s after which a
    ///     `RefreshCoordinator` gives a refresh up, so that the request's own error is reported.
    public init(
        server: AuthorizationServer,
        client: OAuthClient,
        rules: OAuthRules = .standard,
        transport: any HttpTransport = .platform,
        retrierFactory: any RetrierFactory = BackoffRetrier.factory(.standard.with { $0.maxAttempts = 3 }),
        clock: any Clock<Duration> = DefaultClock.current,
        wallClock: @escaping @Sendable () -> Date = { DefaultClock.date },
        signInTimeout: Duration = .seconds(20),
        refreshTimeout: Duration = .seconds(7),
        deadline: Duration = .seconds(25)
    ) {
        self.server = server
        self.client = client
        self.rules = rules
        self.transport = transport
        self.retrierFactory = retrierFactory
        self.clock = clock
        self.wallClock = wallClock
        self.signInTimeout = signInTimeout
        self.refreshTimeout = refreshTimeout
        self.deadline = deadline
    }
}

extension TokenEndpoint: Redacted {
    /// Issuer and client; never a secret.
    public var description: String { "TokenEndpoint(\(server.issuer), \(client))" }
}

extension TokenEndpoint {
    /// Replaces a credential by a fresh one (RFC 6749 §6).
    ///
    /// Values that the reply leaves out stay: the refresh token, unless the server rotates it, the scope and the other
    /// fields.
    ///
    /// - Parameters:
    ///   - credential: The credential to replace. Its refresh token may be spent afterwards, even when this throws
    ///     ``OAuthError/Kind/answerLost`` or ``OAuthError/Kind/malformedReply(reason:)``.
    ///   - scope: The scope to ask for, within that of the credential. Default: nil, all of it.
    ///   - parameters: More parameters, in addition to the client's. Default: none.
    /// - Throws: ``OAuthError``: ``OAuthError/Kind/noRefreshToken``, at once, when there is no refresh token to spend;
    ///   ``OAuthError/Kind/invalidGrant`` when the server no longer accepts it.
    public func refresh(
        _ credential: OAuthCredential,
        scope: OAuthScope? = nil,
        parameters: HttpQuery = [:]
    ) async throws(OAuthError) -> OAuthCredential {
        guard let refreshToken = credential.refreshToken else { throw OAuthError(.noRefreshToken) }
        var form = TokenForm(.init("grant_type", "refresh_token"), .init("refresh_token", refreshToken))
        form.add(scope)
        try form.add(client, TokenForm.fields(of: parameters))
        let reply = try await reply(to: form)
        return reply.completed(replacing: credential, requested: scope, receivedAt: wallClock())
    }

    /// Gets a credential for the client itself, without a user (RFC 6749 §4.4).
    ///
    /// - Parameters:
    ///   - scope: The scope to ask for. Default: nil, the server's own choice.
    ///   - parameters: More parameters, in addition to the client's. Default: none.
    /// - Throws: ``OAuthError``.
    public func clientCredentials(
        scope: OAuthScope? = nil,
        parameters: HttpQuery = [:]
    ) async throws(OAuthError) -> OAuthCredential {
        var form = TokenForm(.init("grant_type", "client_credentials"))
        form.add(scope)
        try form.add(client, TokenForm.fields(of: parameters))
        return try await reply(to: form).completed(requested: scope, receivedAt: wallClock())
    }
}

extension TokenEndpoint {
    /// Has the server forget a credential (RFC 7009): its refresh token and also its access token, which a server need
    /// not end along with the refresh token (§2.1).
    ///
    /// A token that the server does not know, or no longer knows, causes no error; nor does a server that cannot revoke
    /// the access token, which then expires by itself (§2.2.1).
    ///
    /// - Throws: ``OAuthError``: ``OAuthError/Kind/noEndpoint(name:)`` when the server has no endpoint for it. Whenever
    ///   this throws, the tokens may still be valid.
    public func revoke(_ credential: OAuthCredential) async throws(OAuthError) {
        let endpoint = try EndpointUrl(server.revocationEndpoint, name: "revocation_endpoint")
        guard let refreshToken = credential.refreshToken else {
            return try await revoke(credential.accessToken, "access_token", at: endpoint)
        }
        try await revoke(refreshToken, "refresh_token", at: endpoint)
        do throws(OAuthError) {
            try await revoke(credential.accessToken, "access_token", at: endpoint)
        } catch {
            guard error.kind == .misconfigured(code: "unsupported_token_type") else { throw error }
        }
    }

    private func revoke(_ token: String, _ hint: String, at endpoint: EndpointUrl) async throws(OAuthError) {
        var form = TokenForm(.init("token", token))
        form.add("token_type_hint", hint)
        try await send(form, to: endpoint) { _ throws(MalformedReply) in }
    }
}

extension TokenEndpoint {
    /// Asks for a token.
    ///
    /// - Parameter retrier: The retrier that repeats the request. Default: nil, the endpoint's own.
    func reply(to form: TokenForm, retrier: (any RetrierFactory)? = nil) async throws(OAuthError) -> OAuthCredential {
        let endpoint = try EndpointUrl(server.tokenEndpoint, name: "token_endpoint")
        return try await send(form, to: endpoint, retrier: retrier) { response throws(MalformedReply) in
            try OAuthCredential(response, rules)
        }
    }

    /// Sends a form, with the client's identification, and reads the reply.
    ///
    /// - Parameters:
    ///   - form: The form, without the client.
    ///   - endpoint: The URL to send it to.
    ///   - retrier: The retrier that repeats the request. Default: nil, the endpoint's own.
    ///   - read: Reads a successful reply.
    /// - Throws: ``OAuthError`` for every failure, and for a reply that cannot be read.
    func send<Reply>(
        _ form: TokenForm,
        to endpoint: EndpointUrl,
        retrier: (any RetrierFactory)? = nil,
        reading read: (_ response: HttpResponse<Data>) throws(MalformedReply) -> Reply
    ) async throws(OAuthError) -> Reply {
        var form = form
        form.add(client.fields)
        var secrets = form.secrets
        if case .basic(let secret) = client.authentication, !secret.isEmpty { secrets.append(secret) }
        // As they are sent.
        secrets += secrets.map(\.percentEncoded)
        if let authorization = client.authorization { secrets.append(String(authorization.dropFirst("Basic ".count))) }

        let response = try await response(to: form, from: endpoint, retrier ?? retrierFactory, hiding: secrets)
        do throws(MalformedReply) {
            guard (200...299).contains(response.status) else {
                throw MalformedReply("status \(response.status), a redirect, which is not followed with secrets")
            }
            return try read(response)
        } catch {
            throw OAuthError(response, error, rules, hiding: secrets)
        }
    }

    private func response(
        to form: TokenForm,
        from endpoint: EndpointUrl,
        _ retrier: any RetrierFactory,
        hiding secrets: [String]
    ) async throws(OAuthError) -> HttpResponse<Data> {
        var header: HttpHeader = [.accept: "application/json"]
        header[.authorization] = client.authorization
        let timeout = form.isRefresh ? refreshTimeout : signInTimeout
        let request = FormRequest(form: form, header: header, timeout: timeout, deadline: deadline)
        let service = AnyHttpService(
            apiUrl: endpoint.text,
            retrierFactory: retrier,
            transport: LimitedTransport(base: transport),
            clock: clock
        )
        do throws(HttpError) {
            return try await request.response(with: service)
        } catch {
            throw OAuthError(error, rules, hiding: secrets)
        }
    }
}

/// A transport for small replies: a larger one is abandoned while it arrives, before it fills the memory.
struct LimitedTransport: HttpTransport {
    let base: any HttpTransport
    /// The largest body, in bytes.
    var limit = ReplyFields.sizeLimit

    /// Reads the reply up to the limit; reads nothing if the header announces a larger body.
    ///
    /// - Throws: `TransportError.responseTooLarge(limit:)`; the transport's errors.
    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        let response = try await base.stream(request, context: context)
        if let length = response.header.values(of: .contentLength).first.flatMap({ Int($0) }), length > limit {
            throw TransportError.responseTooLarge(limit: limit)
        }
        var body = Data()
        for try await chunk in response.body {
            guard body.count + chunk.count <= limit else { throw TransportError.responseTooLarge(limit: limit) }
            body.append(chunk)
        }
        return response.replacingBody(body)
    }
}
