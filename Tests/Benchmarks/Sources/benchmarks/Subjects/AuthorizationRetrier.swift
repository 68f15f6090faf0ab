import Nautilus

/// Authorizes every request with the shared credential, and answers a 401 once with a refreshed one.
struct AuthorizationRetrier: Retrier {
    private let authorizer: CallAuthorizer<String>
    private var hasRefreshed = false

    init(_ coordinator: RefreshCoordinator<String>) {
        authorizer = CallAuthorizer(coordinator) { token, request in
            request.header[.authorization] = "Bearer \(token)"
        }
    }

    var credentials: [any CallCredential] { [authorizer] }

    mutating func retry<R: Request>(_ request: R, failingWith failure: HttpError) async -> RetryDecision {
        guard let tag = authorizer.rejectedTag(in: failure), failure.isSafeToRepeat, !hasRefreshed else {
            return .doNotRetry
        }
        hasRefreshed = true
        do {
            try await authorizer.refresh(rejecting: tag)
            return true
        } catch {
            return .fail(with: failure.asAuthorizationFailure(error))
        }
    }

    /// The recommended retrier for services: one coordinator as the source of credentials and as the retries' gate.
    static func withBackoff() -> any RetrierFactory {
        let coordinator = RefreshCoordinator(credential: "0123456789") { _ in "9876543210" }
        return .composed(
            AnyRetrierFactory { AuthorizationRetrier(coordinator) },
            BackoffRetrier.factory(.standard.with { $0.gate = coordinator })
        )
    }
}
