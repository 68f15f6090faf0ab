import Nautilus

/// Authorizes each request with the session's credential, and answers a rejected one with a fresh credential, once.
struct SessionRetrier<Credential: Codable & Sendable & Equatable>: Retrier {
    private let credential: SessionCredential<Credential>
    private let rules: SessionRules<Credential>
    private var hasRefreshed = false
    private(set) var reason: RetryReason?

    static func factory(_ session: Session<Credential>) -> AnyRetrierFactory {
        AnyRetrierFactory(descriptions: [.authorization]) { SessionRetrier(session) }
    }

    private init(_ session: Session<Credential>) {
        (credential, rules) = (SessionCredential(session), session.rules)
    }

    var credentials: [any CallCredential] { [credential] }

    mutating func retry<R: Request>(_ request: R, failingWith rejection: HttpError) async -> RetryDecision {
        reason = nil
        guard rejection.rejectsCredential, let tag = rejection.credentialTag(of: credential.session) else {
            return refusal(after: rejection)
        }
        guard !hasRefreshed else { return .doNotRetry }
        guard rejection.isSafeToRepeat else {
            reason = .mayHaveExecuted
            return .doNotRetry
        }
        do {
            let fresh = try await credential.refresh(rejecting: tag)
            hasRefreshed = true
            reason = .credentialReplaced(generation: fresh.generation)
            return .retry(after: .zero)
        } catch {
            return .fail(with: rejection.asAuthorizationFailure(error))
        }
    }

    /// A fresh credential of the same user has no more rights, so the app has to ask for them.
    private func refusal(after failure: HttpError) -> RetryDecision {
        guard failure.credentialTag(of: credential.session) != nil, let missing = rules.insufficiency(failure) else {
            return .doNotRetry
        }
        return .fail(with: failure.asAuthorizationFailure(missing))
    }

    var name: String { "SessionRetrier" }
}

/// One call's handle on a stored session's credential. Before each send the store is looked at, where that takes a wait.
private final class SessionCredential<Credential: Codable & Sendable & Equatable>: CallCredential {
    let session: CallSession
    private let source: Session<Credential>
    /// Whether the store has been looked at. Each send looks anew, since none is ready before.
    private let hasLooked = Locked(false)

    init(_ source: Session<Credential>) { (self.source, session) = (source, source.session) }

    var isReady: Bool { source.isUpToDate == true && source.serves(session) }

    func ready() async throws {
        do {
            try await source.ready(in: session)
            hasLooked.withLock { $0 = true }
        } catch let error as SessionError where error.kind == .cancelled {
            // The caller has left, or the deadline has passed.
            throw CancellationError()
        } catch let error as any RefreshFailure where !(error is RefreshError || error is HttpError) {
            throw error.asFailureOfAuthorization
        }
    }

    func authorize(_ request: inout HttpRequest) throws -> Bool {
        guard hasLooked.withLock({ $0 }) || source.shared.isUpToDate else { return false }
        guard let origin = request.origin, let grant = try source.usable(in: session, for: origin) else { return false }
        do {
            try request.authorize(as: CredentialTag(session: session, generation: grant.generation)) { request in
                try source.rules.stamp(grant.credential, &request)
            }
        } catch let error as any RefreshFailure where !(error is RefreshError || error is HttpError) {
            throw error.asFailureOfAuthorization
        }
        return true
    }

    func refresh(rejecting tag: CredentialTag) async throws -> CredentialTag {
        try await source.refresh(rejecting: tag)
    }
}

extension RefreshFailure {
    /// An error of the store or of the rules, as the failure of a request that was not sent.
    fileprivate var asFailureOfAuthorization: HttpError {
        HttpError(.authorization, stage: .prepare, delivery: .notSent, retryAfter: retryAfter, underlying: self)
    }
}
