/// One call's share of a credential: it stamps the call's requests, remembers which of them carried which grant, and
/// decides what a rejection means.
///
/// A retrier that authorizes its call has one, and nothing else to do:
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
/// An attempt may send several requests, since an interceptor may: a job is started, answered 202, and asked about
/// until it is done. The rejected request is then one of them, and the lease looks which.
public struct CredentialLease<Source: CredentialSource> {
    /// A credential with its version.
    public typealias Grant = RefreshCoordinator<Source.Credential>.Grant

    private let source: Source
    /// Whether the call is a guest's, which carries no credential, whatever retrier it was given.
    private let isIdle: Bool
    /// The session that the call began in, however late its first request goes out.
    private var session: RefreshCoordinator<Source.Credential>.Session
    /// Whether another call has begun the session, which this one continues.
    private var isFixed = false
    /// Where the session is kept for the calls that continue this one; nil when it continues another.
    private var place: CallSequence.Place?
    /// The grant that was stamped last.
    private var latest: Grant?
    /// The number of the exchange that it was stamped for; nil in a context that a test has made.
    private var latestExchange: Int?
    /// The grants that were stamped before in the same attempt, where that makes several exchanges.
    private var earlier: [(exchange: Int?, grant: Grant)] = []
    private var attempt = 0
    private var hasRefreshed = false
    /// Why the last decision was taken, for ``Retrier/reason``; nil when there is nothing to say.
    public private(set) var reason: RetryReason?

    /// Creates the lease of one call, which belongs to the session that goes on now. A factory of retriers does it for
    /// each call, and so at its beginning.
    ///
    /// The call for the next page of a list, or for the next connection of a stream, belongs to the session that the
    /// first began in.
    public init(_ source: Source) {
        self.source = source
        isIdle = GuestCall.isBeingMade
        session = source.session
        guard !isIdle, let place = CallSequence.nextPlace(),
            let (first, isFirst) = place.session(orBeginning: source.owner(of: session))
        else {
            return
        }
        session = first
        if isFirst { self.place = place } else { isFixed = true }
    }

    /// Takes the call into the session that was going on elsewhere when it began, in another process, unless a user has
    /// signed in or out here since.
    ///
    /// For a source that has to wait for a look at what the processes share: start it with the call, so that the call
    /// belongs to the session which that finds, and hand that in before ``stamp(_:context:with:)``. A source that looks
    /// without waiting does it in ``CredentialSource/session`` instead.
    public mutating func join(_ session: RefreshCoordinator<Source.Credential>.Session) {
        guard !isFixed, session.mark.changesHere == self.session.mark.changesHere else { return }
        self.session = session
        place?.replaceSession(by: source.owner(of: session))
    }

    /// Whether ``stamp(_:context:with:)`` has anything to do for a request: not for one to another origin than the service's,
    /// nor for any of a guest's call.
    public func stamps(_ request: HttpRequest, context: AttemptContext) -> Bool {
        !isIdle && request.origin == context.serviceOrigin
    }

    /// Stamps a request that is about to be sent, and waits for a credential while a refresh is in flight. To be called
    /// in ``Retrier/prepare(_:context:)``.
    ///
    /// A request to another origin than the service's goes out as it is, whatever `stamp` would do. A call that began
    /// in one session, or while nobody was signed in, never goes out in the next, wherever it has waited in between;
    /// and no credential to a service of another environment, nor over plain `http`, unless its ``CredentialOrigins``
    /// name it.
    ///
    /// - Parameter stamp: Puts the credential on the request.
    /// - Throws: ``RefreshError`` when there is no credential to be had, and that of
    ///   ``CredentialSource/end(of:)`` when the session is over in which the call began; `CancellationError`; the error
    ///   of `stamp`.
    public mutating func stamp(
        _ request: inout HttpRequest,
        context: AttemptContext,
        with stamp: (Source.Credential, inout HttpRequest) throws -> Void
    ) async throws {
        guard stamps(request, context: context) else { return }
        // Asked before as well, so that the call does not wait for another user's refresh.
        if let end = source.end(of: session) { throw end }
        let grant = try await source.grant(continuing: latest, for: context.serviceOrigin)
        guard grant.session == session else { throw RefreshError.superseded }
        // Once more: the grant may be of before the session's end, and have come after it.
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

    /// Has the credential refreshed when the server has rejected it, and the attempt repeated, once in a call. To be
    /// called in ``Retrier/retry(_:failingWith:)``.
    ///
    /// An attempt is repeated only if the very exchange that failed carried a credential of this lease, and if nothing
    /// that the attempt has sent may be executed twice by that. A refresh that fails is the call's failure, of kind
    /// ``FailureKind/authorization``, with the response of the rejection and the refresh's error underneath.
    public mutating func decide(after failure: HttpError) async -> RetryDecision {
        reason = nil
        // Another credential does not mend it, or it was another's that was rejected.
        guard failure.rejectsCredential, let rejected = grant(carriedBy: failure) else { return .doNotRetry }
        // A fresh credential that is rejected again is an error, not a loop.
        guard !hasRefreshed else { return .doNotRetry }
        // The order may have been placed, and only the question what has become of it was rejected.
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

    /// The grant that the failed exchange carried; nil when it carried none of this lease, and when it was no exchange
    /// of this call that failed.
    public func grant(carriedBy failure: HttpError) -> Grant? {
        if let exchange = failure.exchange, exchange.call != failure.call.id { return nil }
        // A hop of a redirect goes on with the grant that was stamped at its beginning.
        let number = failure.exchange?.root
        if number == latestExchange { return latest }
        return earlier.last { $0.exchange == number }?.grant
    }
}

extension CredentialSource {
    /// Retriers that authorize every attempt with the credential, and repeat an attempt whose credential the server has
    /// rejected with a fresh one, once in a call; nothing else is retried: compose it with ``BackoffRetrier``.
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
    /// - Parameter stamp: Puts the credential on a request that is about to be sent; see
    ///   ``CredentialLease/stamp(_:context:with:)`` for which those are. An error that it throws is the attempt's
    ///   failure.
    public func authorization(
        _ stamp: @escaping @Sendable (_ credential: Credential, _ request: inout HttpRequest) throws -> Void
    ) -> any RetrierFactory {
        AnyRetrierFactory(descriptions: [.authorization]) { LeaseRetrier(lease: CredentialLease(self), stamp: stamp) }
    }
}

/// Does what a lease does.
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

extension HttpError {
    /// Whether the server has rejected the service's credential, so that a fresh one may help.
    ///
    /// True for a 401 of the service's own origin, with or without challenges. False for everything else: a 403, a 401
    /// of another origin, which has never seen the credential, `insufficient_scope`, since a fresh credential of the same user
    /// has no more rights (RFC 6750 §3.1), and `insufficient_user_authentication`, which only the user can mend (RFC 9470).
    ///
    /// It speaks of the ``exchange`` that failed, which may be another one than the attempt's own: ``CredentialLease`` looks
    /// which one that is before it has the attempt repeated.
    public var rejectsCredential: Bool {
        guard let request = exchange?.request ?? request, let response, response.status == 401 else { return false }
        guard request.isToServiceOrigin else { return false }
        // A redirect has led elsewhere, perhaps and back, and the credential was left behind; or the request itself was
        // accepted, and what rejects the credential is only the page that it leads to.
        if let redirects, redirects.leftOrigin || redirects.becameGet { return false }
        if response.isFromElsewhere(than: request.origin) { return false }
        return !response.header.challenges.contains {
            $0.scheme == "bearer"
                && ["insufficient_scope", "insufficient_user_authentication"].contains($0["error"]?.lowercased())
        }
    }

    /// This failure as one of authorization: the same response, with the refresh's error underneath, and the time after
    /// which that may have passed as ``retryAfter``.
    public func asAuthorizationFailure(_ underlying: any Error) -> HttpError {
        var error = self
        error.kind = .authorization
        error.underlying = underlying
        error.retryAfter = (underlying as? any RefreshFailure)?.retryAfter ?? retryAfter
        return error
    }
}

/// A credential that is passed on and cannot be read.
///
/// The machine and all that the lock guards have no use for its content, and without its type they are not generic:
/// unspecialized generic code would make ``RefreshCoordinator/current`` ten times as slow.
protocol ErasedCredential: AnyObject, Sendable {}

/// Holds a credential of any type behind one reference.
final class CredentialBox<Credential: Sendable>: ErasedCredential {
    let credential: Credential

    init(_ credential: Credential) {
        self.credential = credential
    }
}

/// A sealed credential with its generation.
struct ErasedGrant: Sendable {
    let credential: any ErasedCredential
    let generation: Int
    /// The session that it belongs to.
    let session: SessionMark
}

extension ErasedCredential {
    /// The credential inside; `type` must be the one that it was sealed as.
    func restored<Credential: Sendable>(as type: Credential.Type) -> Credential {
        // A coordinator seals credentials of one type only; a checked cast would look the type up for every attempt.
        unsafeDowncast(self, to: CredentialBox<Credential>.self).credential
    }
}
