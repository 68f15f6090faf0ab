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
        if let look {
            if let found = await look.session() { lease.join(found) }
            self.look = nil
        }
        do {
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
    private let found: Locked<RefreshCoordinator<Credential>.Session?>
    private let task: Task<Void, Never>

    /// Nil when the store has what this process knows: then there is nothing to look for.
    init?(_ session: Session<Credential>) {
        let moment = session.shared.moment()
        if moment.isUpToDate { return nil }
        let found = Locked<RefreshCoordinator<Credential>.Session?>(nil)
        self.found = found
        task = BackgroundTask.start {
            // If the store cannot be read, the call gets the error when it asks for its credential. If it was slow, the
            // call stays with the user whom this process knew: it must not go out as one who has signed in since.
            guard (try? await session.restore()) != nil, session.shared.isKnown(since: moment) else { return }
            found.withLock { $0 = session.session }
        }
    }

    /// The session that was found; nil when the store could not be read, or not soon, or the call was cancelled meanwhile.
    func session() async -> RefreshCoordinator<Credential>.Session? {
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return found.withLock { $0 }
    }
}
