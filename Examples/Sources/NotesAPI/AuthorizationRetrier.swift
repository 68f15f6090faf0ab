import Nautilus

/// Authorizes each request with the user's token, and answers a rejected token with a new one, once.
///
/// A hundred calls have a hundred of these. None refreshes by itself: each asks the coordinator they share, which
/// compares the generation that the rejected request carried and refreshes once for all of them.
public struct AuthorizationRetrier: Retrier {
    private let authorizer: CallAuthorizer<Token>
    private var hasRefreshed = false
    /// Why the last attempt is repeated, or is not; nil when it is not because of its token.
    public private(set) var reason: RetryReason?

    /// Makes one retrier per call; all share the coordinator.
    public static func factory(_ coordinator: RefreshCoordinator<Token>) -> AnyRetrierFactory {
        AnyRetrierFactory(sharingKey: SharingKey(ObjectIdentifier(coordinator))) { AuthorizationRetrier(coordinator) }
    }

    private init(_ coordinator: RefreshCoordinator<Token>) {
        authorizer = CallAuthorizer(coordinator) { token, request in
            request.header[.authorization] = "Bearer \(token.accessToken)"
        }
    }

    /// The token, which the call puts on each of its requests.
    public var credentials: [any CallCredential] { [authorizer] }

    /// Refreshes when the server has rejected the token, and repeats the attempt when that executes nothing twice.
    public mutating func retry<R: Request>(_ request: R, failingWith failure: HttpError) async -> RetryDecision {
        reason = nil
        guard let tag = authorizer.rejectedTag(in: failure), !hasRefreshed else { return .doNotRetry }
        guard failure.isSafeToRepeat else {
            reason = .mayHaveExecuted
            return .doNotRetry
        }
        do {
            reason = .credentialReplaced(generation: try await authorizer.refresh(rejecting: tag).generation)
            hasRefreshed = true
            return true
        } catch {
            return .fail(with: failure.asAuthorizationFailure(error))
        }
    }
}
