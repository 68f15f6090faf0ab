import Nautilus

/// Stamps each attempt with the session's credential, and answers a rejected one with a fresh one, once.
struct SessionRetrier<Credential: Codable & Sendable & Equatable>: Retrier {
    private var lease: CredentialLease<Session<Credential>>
    /// Nil when the call has heard of it.
    private var look: FirstLook<Credential>?
    private let rules: SessionRules<Credential>

    static func factory(_ session: Session<Credential>) -> AnyRetrierFactory {
        AnyRetrierFactory(descriptions: [.authorization]) { SessionRetrier(session) }
    }

    private init(_ session: Session<Credential>) {
        lease = CredentialLease(session)
        look = FirstLook(session)
        rules = session.rules
    }

    mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
        do {
            if let look, lease.stamps(httpRequest, context: context) {
                if let found = try await look.session() { lease.join(found) }
                self.look = nil
            }
            try await lease.stamp(&httpRequest, context: context, with: rules.stamp)
        } catch let error as any RefreshFailure where !(error is RefreshError || error is HttpError) {
            // Of the store, or of the stamp: the coordinator's own are known to the call.
            throw HttpError(
                .authorization,
                stage: .prepare,
                delivery: .notSent,
                retryAfter: error.retryAfter,
                underlying: error
            )
        }
    }

    mutating func retry<R: Request>(_ request: R, failingWith failure: HttpError) async -> RetryDecision {
        let decision = await lease.decide(after: failure)
        // A fresh credential of the same user has no more rights: the app has to ask for them.
        guard case .doNotRetry = decision, lease.grant(carriedBy: failure) != nil, let lack = rules.lack(failure) else {
            return decision
        }
        return .fail(with: failure.asAuthorizationFailure(lack))
    }

    var reason: RetryReason? { lease.reason }
    var name: String { "SessionRetrier" }
}

/// The look at the store when a call begins: a user who has signed in elsewhere before it is the user of the call, one
/// who does so later is not.
private final class FirstLook<Credential: Codable & Sendable & Equatable>: Sendable {
    private let source: Session<Credential>
    private let moment: SharedCredential<Credential>.Moment
    private let failure: Locked<SessionError?>
    private let task: Task<Void, Never>

    /// Nil when the store has what this process knows: then there is nothing to look for.
    init?(_ session: Session<Credential>) {
        let moment = session.shared.moment()
        if moment.isUpToDate { return nil }
        let failure = Locked<SessionError?>(nil)
        (source, self.moment, self.failure) = (session, moment, failure)
        task = BackgroundTask.start {
            do throws(SessionError) {
                try await session.restore()
            } catch {
                failure.withLock { $0 = error }
            }
        }
    }

    /// The session that was found, and that had begun before the call; nil for the one that the call has begun in, be it
    /// over by now.
    ///
    /// - Throws: ``SessionError`` when the store cannot be read and nothing is known of it, at the beginning of the call
    ///   and now; `RefreshError.superseded` when somebody has signed in or out since that began.
    func session() async throws -> RefreshCoordinator<Credential>.Session? {
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        // It may be read by now.
        if failure.withLock({ $0 }) != nil { try await source.restore() }
        switch source.shared.belonging(since: moment, { source.session }) {
        case .found(let session): return session
        case .known: return nil
        case .superseded: throw RefreshError.superseded
        }
    }
}
