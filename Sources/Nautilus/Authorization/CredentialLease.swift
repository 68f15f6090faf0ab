/// One call's share of a credential: stamps the call's requests, remembers which request carried which grant, and
/// decides what a rejection means.
///
/// A retrier that authorizes its call keeps a lease and needs nothing else:
///
/// ```swift
/// struct TokenRetrier: Retrier {
///     var lease: CredentialLease<RefreshCoordinator<Token>>
///
///     mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
///         try await lease.stamp(&httpRequest, context: context) { token, request in
///             request.header[.authorization] = "Bearer \(token.accessToken)"
///         }
///     }
///
///     mutating func retry<R: Request>(_ request: R, failingWith failure: HttpError) async -> RetryDecision {
///         await lease.decide(after: failure)
///     }
///
///     var reason: RetryReason? { lease.reason }
/// }
/// ```
/// An attempt may send several requests when an interceptor does: it starts a job, is answered 202, and polls until the
/// job is done. Any of these requests may be the rejected one; the lease finds out which.
public struct CredentialLease<Source: CredentialSource> {
    /// A credential with its version.
    public typealias Grant = RefreshCoordinator<Source.Credential>.Grant

    private let source: Source
    /// Whether the call is a guest's, which carries no credential, whichever retrier it was given.
    private let isIdle: Bool
    /// The session that was current when the call began, however late its first request goes out.
    private var session: RefreshCoordinator<Source.Credential>.Session
    /// Whether the session is that of an earlier call, which this one continues.
    private var isFixed = false
    /// Whether the call continues one that began without a session of this source.
    private var continuesAnother = false
    /// Where the session is kept for the calls that continue this one; nil when this call continues another.
    private var place: CallSequence.Place?
    /// The grant that was stamped last.
    private var latest: Grant?
    /// The number of the exchange that `latest` was stamped for; nil in a context that a test has made.
    private var latestExchange: Int?
    /// The grants stamped earlier in the same attempt, if it makes several exchanges.
    private var earlier: [(exchange: Int?, grant: Grant)] = []
    private var attempt = 0
    private var hasRefreshed = false
    /// Why the last decision was taken, for ``Retrier/reason``; nil when there is nothing to say.
    public private(set) var reason: RetryReason?

    /// Creates the lease of one call, which belongs to the session that is current now. A factory of retriers creates
    /// it for each call, and so when the call begins.
    ///
    /// The call for the next page of a list, or for the next connection of a stream, belongs to the session in which
    /// the first of these calls began. If that call had no such lease, it went out as a guest or as another user, and
    /// ``stamp(_:context:with:)`` throws ``RefreshError/superseded``.
    public init(_ source: Source) {
        self.source = source
        isIdle = GuestCall.isBeingMade
        session = source.session
        guard !isIdle, let place = CallSequence.nextPlace() else { return }
        guard let (first, isFirst) = place.session(orBeginning: SourceSession(source, session)) else {
            (isFixed, continuesAnother) = (true, true)
            return
        }
        session = first.session
        if isFirst { self.place = place } else { isFixed = true }
    }

    /// Moves the call into the session that had already begun in another process when the call started, unless a user
    /// has signed in or out here since.
    ///
    /// For a source that learns of other processes' changes only by waiting: start looking when the call begins, and
    /// pass the session found to this method before ``stamp(_:context:with:)``. A source that can look without waiting
    /// does so in ``CredentialSource/session`` instead.
    public mutating func join(_ session: RefreshCoordinator<Source.Credential>.Session) {
        guard !isFixed, session.mark.changesHere == self.session.mark.changesHere else { return }
        self.session = session
        place?.replaceSession(by: SourceSession(source, session))
    }

    /// Whether ``stamp(_:context:with:)`` has anything to do for a request: not for a request to an origin other than
    /// the service's, nor for any request of a guest's call.
    public func stamps(_ request: HttpRequest, context: AttemptContext) -> Bool {
        !isIdle && request.origin == context.serviceOrigin
    }

    /// Stamps a request that is about to be sent, after waiting for any refresh that the credential depends on. To be
    /// called in ``Retrier/prepare(_:context:)``.
    ///
    /// A request to an origin other than the service's goes out as it is, whatever `stamp` would do. A call that began
    /// in one session, or while nobody was signed in, never goes out in the next, wherever it has waited in between. No
    /// credential goes to a service of another environment, nor over plain `http`, unless its ``CredentialOrigins``
    /// name the origin.
    ///
    /// - Parameter stamp: Puts the credential on the request.
    /// - Throws: ``RefreshError`` when there is no credential to be had; the error of ``CredentialSource/end(of:)``
    ///   when the session in which the call began is over; `CancellationError`; the error of `stamp`.
    public mutating func stamp(
        _ request: inout HttpRequest,
        context: AttemptContext,
        with stamp: (Source.Credential, inout HttpRequest) throws -> Void
    ) async throws {
        guard stamps(request, context: context) else { return }
        if continuesAnother { throw RefreshError.superseded }
        // Checked before the wait as well, so that the call does not wait for another user's refresh.
        if let end = source.end(of: session) { throw end }
        let grant = try await source.grant(continuing: latest, for: context.serviceOrigin)
        guard grant.session == session else { throw source.end(of: session) ?? .superseded }
        // Checked again: the grant may date from before the session's end and have arrived after it.
        if let end = source.end(of: session) { throw end }
        let unstamped = request.header
        try stamp(grant.credential, &request)
        request.noteStamp(since: unstamped)
        if context.number != attempt {
            earlier.removeAll()
        } else if let latest {
            earlier.append((latestExchange, latest))
        }
        (latest, latestExchange, attempt) = (grant, context.exchange, context.number)
    }

    /// Decides what follows a failed attempt: if the server has rejected the credential, has it refreshed and the
    /// attempt repeated, once in a call. To be called in ``Retrier/retry(_:failingWith:)``.
    ///
    /// An attempt is repeated only if the very exchange that failed carried a credential of this lease, and if
    /// repeating it cannot execute twice anything that it has sent. If the refresh fails, the call fails with kind
    /// ``FailureKind/authorization``, the rejection's response, and the refresh's error underneath.
    public mutating func decide(after failure: HttpError) async -> RetryDecision {
        reason = nil
        // Either another credential would not help, or the rejected credential was not this lease's.
        guard failure.rejectsCredential, let rejected = grant(carriedBy: failure) else { return .doNotRetry }
        // A fresh credential that is rejected again is an error, not a loop.
        guard !hasRefreshed else { return .doNotRetry }
        // An earlier exchange may have placed the order, and only the question about its outcome was rejected.
        guard failure.isSafeToRepeat else {
            reason = .mayHaveExecuted
            return .doNotRetry
        }

        do {
            let fresh = try await source.refresh(rejecting: rejected)
            hasRefreshed = true
            reason = .credentialReplaced(generation: fresh.generation)
            return .retry(after: .zero)
        } catch {
            return .fail(with: failure.asAuthorizationFailure(error))
        }
    }

    /// The grant that the failed exchange carried; nil when it carried none of this lease, or when the failed exchange
    /// was not one of this call.
    public func grant(carriedBy failure: HttpError) -> Grant? {
        if let exchange = failure.exchange, exchange.call != failure.call.id { return nil }
        // A redirect hop keeps the grant that was stamped on the exchange's first request.
        let number = failure.exchange?.root
        if number == latestExchange { return latest }
        return earlier.last { $0.exchange == number }?.grant
    }
}

extension CredentialSource {
    /// Creates retriers that authorize every attempt with the credential, and that repeat an attempt with a fresh
    /// credential, once in a call, when the server has rejected its own. They retry nothing else: compose them with
    /// ``BackoffRetrier``.
    ///
    /// ```swift
    /// var retrierFactory: any RetrierFactory {
    ///     ComposedRetrier.factory(
    ///         coordinator.authorization { token, request in
    ///             request.header[.authorization] = "Bearer \(token.accessToken)"
    ///         },
    ///         BackoffRetrier.factory(.standard.with { $0.gate = coordinator })
    ///     )
    /// }
    /// ```
    /// For more than that, write a retrier of your own with a ``CredentialLease``.
    ///
    /// - Parameter stamp: Puts the credential on a request that is about to be sent; for which requests, see
    ///   ``CredentialLease/stamp(_:context:with:)``. An error that it throws is the attempt's failure.
    public func authorization(
        _ stamp: @escaping @Sendable (_ credential: Credential, _ request: inout HttpRequest) throws -> Void
    ) -> any RetrierFactory {
        AnyRetrierFactory(descriptions: [.authorization]) { LeaseRetrier(lease: CredentialLease(self), stamp: stamp) }
    }
}

/// A retrier that only delegates to its lease.
private struct LeaseRetrier<Source: CredentialSource>: Retrier {
    var lease: CredentialLease<Source>
    let stamp: @Sendable (Source.Credential, inout HttpRequest) throws -> Void

    mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
        try await lease.stamp(&httpRequest, context: context, with: stamp)
    }

    mutating func retry<R: Request>(_ request: R, failingWith failure: HttpError) async -> RetryDecision {
        await lease.decide(after: failure)
    }

    var reason: RetryReason? { lease.reason }
    var name: String { "AuthorizationRetrier" }
}
