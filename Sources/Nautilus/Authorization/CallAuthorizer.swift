/// One call's handle on a credential that calls share. It authorizes the call's requests with the newest version of the
/// credential, and has the credential refreshed when the server has rejected it.
///
/// A retrier has it among its ``Retrier/credentials``; the guide `Authorization` has a whole retrier:
/// ```swift
/// guard let tag = authorizer.rejectedTag(in: failure), failure.isSafeToRepeat, !hasRefreshed else { return false }
/// hasRefreshed = true
/// do {
///     try await authorizer.refresh(rejecting: tag)
///     return true
/// } catch { return .fail(with: failure.asAuthorizationFailure(error)) }
/// ```
public struct CallAuthorizer<Credential: Sendable>: CallCredential {
    /// The session that was current when the authorizer was made.
    public let session: CallSession
    private let source: any CredentialSource<Credential>
    /// Whether the source was asked; nil where it need not be. Each send asks anew, since none is ready before.
    private let hasLooked: Locked<Bool>?
    private let write: @Sendable (Credential, inout HttpRequest) throws -> Void

    /// Creates the authorizer of one call, which belongs to the session that is current now. A factory of retriers
    /// creates it for each call.
    ///
    /// - Parameters:
    ///   - source: Keeps the credential, for instance a ``RefreshCoordinator``.
    ///   - write: Puts the credential on a request.
    public init(
        _ source: some CredentialSource<Credential>,
        write: @escaping @Sendable (_ credential: Credential, _ request: inout HttpRequest) throws -> Void
    ) {
        (session, self.source, self.write) = (source.session, source, write)
        hasLooked = source.isUpToDate.map { _ in Locked(false) }
    }

    /// Whether the session has a credential that serves now.
    public var isReady: Bool { source.isUpToDate != false && source.serves(session) }

    /// Waits for a refresh that the credential depends on.
    ///
    /// - Throws: ``RefreshError`` when there is no credential to be had; `CancellationError`.
    public func ready() async throws {
        try await source.ready(in: session)
        hasLooked?.withLock { $0 = true }
    }

    /// Puts the newest credential of the session on a request.
    ///
    /// No credential goes to a service of another environment, nor over plain `http`, unless its ``CredentialOrigins``
    /// name the origin.
    ///
    /// - Throws: ``RefreshError``; the error of `write`.
    public func authorize(_ request: inout HttpRequest) throws -> Bool {
        if let end = session.end { throw end }
        if hasLooked?.withLock({ $0 }) == false, source.isUpToDate != true { return false }
        guard let origin = request.origin, let versioned = try source.usable(in: session, for: origin) else {
            return false
        }
        let tag = CredentialTag(session: session, generation: versioned.generation)
        try request.authorize(as: tag) { request in try write(versioned.credential, &request) }
        return true
    }

    /// The tag of the rejected credential, if another one may help; nil if the server has not rejected one, and if the
    /// failed request carried none of this session. Repeat the call only if the error also is ``HttpError/isSafeToRepeat``.
    public func rejectedTag(in error: HttpError) -> CredentialTag? {
        error.rejectsCredential ? error.credentialTag(of: session) : nil
    }

    /// Has the credential refreshed, once for all calls.
    ///
    /// - Parameter tag: That of the credential that was rejected.
    /// - Returns: The tag of the credential that has replaced it.
    /// - Throws: ``RefreshError``; `CancellationError`.
    @discardableResult
    public func refresh(rejecting tag: CredentialTag) async throws -> CredentialTag {
        try await source.refresh(rejecting: tag)
    }
}

extension CredentialSource {
    /// Creates retriers that authorize every request with the credential, and repeat an attempt, once in a call, if the
    /// server has rejected its credential. They retry nothing else: compose them with ``BackoffRetrier``.
    /// ```swift
    /// var retrierFactory: any RetrierFactory {
    ///     .composed(
    ///         coordinator.authorization { $1.header[.authorization] = "Bearer \($0.accessToken)" },
    ///         BackoffRetrier.factory(.standard.with { $0.gate = coordinator })
    ///     )
    /// }
    /// ```
    /// - Parameter write: Puts the credential on a request to the service's own origin. An error that it throws is the
    ///   attempt's failure.
    public func authorization(
        _ write: @escaping @Sendable (_ credential: Credential, _ request: inout HttpRequest) throws -> Void
    ) -> any RetrierFactory {
        authorization(write, refusing: { _ in nil })
    }

    /// - Parameter refuses: Why a failure cannot be mended by a fresh credential, such as for lack of a right; nil if that is
    ///   not why it has failed.
    package func authorization(
        _ write: @escaping @Sendable (_ credential: Credential, _ request: inout HttpRequest) throws -> Void,
        refusing refuses: @escaping @Sendable (HttpError) -> (any Error)?
    ) -> any RetrierFactory {
        AuthorizationFactory(source: self, write: write, refuses: refuses)
    }
}

private struct AuthorizationFactory<Source: CredentialSource>: RetrierFactory {
    let source: Source
    let write: @Sendable (Source.Credential, inout HttpRequest) throws -> Void
    let refuses: @Sendable (HttpError) -> (any Error)?

    var sharingKey: SharingKey? { ObjectIdentifier(ofAny: source).map(SharingKey.init) }
    var anonymous: any RetrierFactory { .never }

    func create<R: Request>(for request: R) -> any Retrier {
        AuthorizationRetrier(authorizer: CallAuthorizer(source, write: write), refuses: refuses)
    }
}

/// Authorizes its call, and has the credential refreshed once when the server has rejected it.
private struct AuthorizationRetrier<Credential: Sendable>: Retrier {
    let authorizer: CallAuthorizer<Credential>
    let refuses: @Sendable (HttpError) -> (any Error)?
    private var hasRefreshed = false
    private(set) var reason: RetryReason?

    init(authorizer: CallAuthorizer<Credential>, refuses: @escaping @Sendable (HttpError) -> (any Error)?) {
        (self.authorizer, self.refuses) = (authorizer, refuses)
    }

    var credentials: [any CallCredential] { [authorizer] }

    mutating func retry<R: Request>(_ request: R, failingWith rejection: HttpError) async -> RetryDecision {
        reason = nil
        guard let tag = rejection.credentialTag(of: authorizer.session) else { return .doNotRetry }
        guard rejection.rejectsCredential else {
            return refuses(rejection).map { .fail(with: rejection.asAuthorizationFailure($0)) } ?? .doNotRetry
        }
        // A fresh credential that is rejected again is an error, not a loop.
        guard !hasRefreshed else { return .doNotRetry }
        // An earlier exchange may have placed the order, and only the question about its outcome was rejected.
        guard rejection.isSafeToRepeat else {
            reason = .mayHaveExecuted
            return .doNotRetry
        }
        do {
            let fresh = try await authorizer.refresh(rejecting: tag)
            hasRefreshed = true
            reason = .credentialReplaced(generation: fresh.generation)
            return .retry(after: .zero)
        } catch {
            return .fail(with: rejection.asAuthorizationFailure(error))
        }
    }

    var name: String { "AuthorizationRetrier" }
}

// MARK: - Rejected credentials

extension HttpError {
    /// Whether the server has rejected the service's credential, so that a fresh one may help.
    ///
    /// True for a 401 of the service's own origin, with or without challenges. False for everything else, such as a
    /// 403; a 401 of another origin, which has never seen the credential; `insufficient_scope`, since a fresh
    /// credential of the same user has no more rights (RFC 6750 §3.1); and `insufficient_user_authentication`, which
    /// only the user can resolve (RFC 9470).
    ///
    /// If the server says it with another status, such as 419, correct that with ``StatusCorrection``.
    ///
    /// False also once a refresh has failed, whose error then is ``FailureKind/authorization``.
    public var rejectsCredential: Bool {
        guard kind != .authorization, let response, response.status == 401, isOwnAnswer else { return false }
        return !response.header.challenges.contains {
            $0.scheme == "bearer"
                && ["insufficient_scope", "insufficient_user_authentication"].contains($0["error"]?.lowercased())
        }
    }

    /// Whether the service's own server has answered, and has answered the request itself.
    ///
    /// False without an answer; for an answer from another origin, such as a page for maintenance or the login of a
    /// hotel's network; after redirects that left the origin, even if they came back, since they have left the
    /// credential behind; and after a redirect that made a GET of the request: then the request was accepted, and only
    /// the page that it redirects to has answered with this status.
    package var isOwnAnswer: Bool {
        guard let request = exchange?.request ?? request, let response, request.isToServiceOrigin else { return false }
        if let redirects, redirects.leftOrigin || redirects.becameGet { return false }
        return !response.isFromElsewhere(than: request.origin)
    }
}

extension HttpError {
    /// The tag of the session's credential that the failed request carried; nil when it carried none, and when the
    /// failure is not that of an exchange of this call.
    package func credentialTag(of session: CallSession) -> CredentialTag? {
        guard let exchange, exchange.call == call.id else { return nil }
        return exchange.tags.credentialTag(of: session)
    }
}
