import Nautilus

/// Stamps each attempt with the user's token, and answers a rejected token with a new one, once.
///
/// A hundred calls have a hundred of these. None refreshes by itself: each asks the coordinator they share, which
/// compares the generation that the rejected request carried and refreshes once for all of them.
public struct AuthorizationRetrier: Retrier {
    private var lease: CredentialLease<RefreshCoordinator<Token>>

    /// Makes one retrier per call; all share the coordinator.
    public static func factory(_ coordinator: RefreshCoordinator<Token>) -> AnyRetrierFactory {
        AnyRetrierFactory(descriptions: [.authorization]) {
            AuthorizationRetrier(lease: CredentialLease(coordinator))
        }
    }

    /// Stamps the token, and waits for one while a refresh is in flight.
    ///
    /// - Throws: `RefreshError` when there is none to be had.
    public mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
        try await lease.stamp(&httpRequest, context: context) { token, request in
            request.header[.authorization] = "Bearer \(token.accessToken)"
        }
    }

    /// Refreshes when the server has rejected what the attempt carried, and repeats it when that executes nothing twice.
    public mutating func retry<R: Request>(_ request: R, failingWith failure: HttpError) async -> RetryDecision {
        await lease.decide(after: failure)
    }

    /// Why the last attempt is repeated, or is not; nil when it is not because of its token.
    public var reason: RetryReason? { lease.reason }
}
