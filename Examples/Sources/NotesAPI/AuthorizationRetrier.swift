import Nautilus

/// Stamps each attempt with the user's token, and answers a rejected token with a new one, once.
///
/// A hundred calls have a hundred of these. None refreshes by itself: each asks the coordinator they share, which
/// compares the generation that the attempt carried and refreshes once for all of them.
public struct AuthorizationRetrier: Retrier {
    private let coordinator: RefreshCoordinator<Token>
    /// What the last attempt carried; nil when it carried nothing.
    private var grant: RefreshCoordinator<Token>.Grant?
    /// What the call last carried at all: it says in whose session the call began.
    private var lastGrant: RefreshCoordinator<Token>.Grant?
    private var hasRefreshed = false
    /// Why the last attempt is repeated; nil when it is not, or not because of its token.
    public private(set) var reason: RetryReason?

    /// Makes one retrier per call; all share the coordinator.
    public static func factory(_ coordinator: RefreshCoordinator<Token>) -> AnyRetrierFactory {
        AnyRetrierFactory { AuthorizationRetrier(coordinator: coordinator) }
    }

    private init(coordinator: RefreshCoordinator<Token>) {
        self.coordinator = coordinator
    }

    /// Stamps the token, and waits for one while a refresh is in flight.
    ///
    /// - Throws: `RefreshError` when there is none to be had.
    public mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
        grant = nil
        // The token goes to the service's own origin and to no other.
        guard httpRequest.origin == context.serviceOrigin else { return }

        // A call that began in one session never goes out in the next: it continues its grant, or fails.
        let grant = try await coordinator.grant(continuing: lastGrant)
        httpRequest.header[.authorization] = "Bearer \(grant.credential.accessToken)"
        (self.grant, lastGrant) = (grant, grant)
    }

    /// Refreshes when the server rejected what the attempt carried.
    public mutating func retry<R: Request>(
        _ request: R,
        failingWith failure: HttpError
    ) async -> RetryDecision {
        reason = nil
        // Another token does not mend it.
        guard let grant, failure.rejectsCredential else { return .doNotRetry }
        // A fresh token that is rejected again is an error, not a loop.
        guard !hasRefreshed else { return .doNotRetry }

        do {
            let fresh = try await coordinator.refresh(rejecting: grant)
            hasRefreshed = true
            reason = .credentialReplaced(generation: fresh.generation)
            return .retry(after: .zero)
        } catch {
            return .fail(with: failure.asAuthorizationFailure(error))
        }
    }
}
