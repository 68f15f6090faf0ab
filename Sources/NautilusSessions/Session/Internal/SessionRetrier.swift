import Nautilus

/// Stamps each attempt with the session's credential, and answers a rejected attempt with a fresh credential, once.
struct SessionRetrier<Credential: Codable & Sendable & Equatable>: Retrier {
    private var lease: CredentialLease<Session<Credential>>
    /// The first look at the store; nil once the call has its result.
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
        } catch let error as SessionError where error.kind == .cancelled {
            // The caller has left, or the deadline has passed.
            throw CancellationError()
        } catch let error as any RefreshFailure where !(error is RefreshError || error is HttpError) {
            // An error of the store or of the stamp; the call already knows the coordinator's own errors.
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
        // A fresh credential of the same user has no more rights, so the app has to ask for them.
        guard case .doNotRetry = decision, lease.grant(carriedBy: failure) != nil,
            let missing = rules.insufficiency(failure)
        else {
            return decision
        }
        return .fail(with: failure.asAuthorizationFailure(missing))
    }

    var reason: RetryReason? { lease.reason }
    var name: String { "SessionRetrier" }
}

/// The look at the store when a call begins. A user who signed in elsewhere before that is the call's user; one who
/// signs in later is not.
private final class FirstLook<Credential: Codable & Sendable & Equatable>: Sendable {
    private let source: Session<Credential>
    private let moment: SharedCredential<Credential>.Moment
    private let failure: Locked<SessionError?>
    private let task: Task<Void, Never>

    /// Nil when the store has what this process knows, so that no look is needed.
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

    /// The session that was found, if it had begun before the call; nil for the session in which the call began, even
    /// if that is over by now.
    ///
    /// - Throws: ``SessionError`` when the store could not be read at the beginning of the call nor now, and nothing is
    ///   known of it; `RefreshError.superseded` when somebody has signed in or out since the call began.
    func session() async throws -> RefreshCoordinator<Credential>.Session? {
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        // The store may be readable by now.
        if failure.withLock({ $0 }) != nil { try await source.restore() }
        switch source.shared.belonging(since: moment, { source.session }) {
        case .found(let session): return session
        case .known: return nil
        case .superseded: throw RefreshError.superseded
        }
    }
}
