import Nautilus

/// Stamps every attempt with the shared credential, and answers a 401 once with a refreshed one.
struct AuthorizationRetrier: Retrier {
    let coordinator: RefreshCoordinator<String>
    private var grant: RefreshCoordinator<String>.Grant?
    private var hasRefreshed = false

    init(_ coordinator: RefreshCoordinator<String>) {
        self.coordinator = coordinator
    }

    mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
        let grant = try await coordinator.grant(continuing: grant)
        self.grant = grant
        httpRequest.header[.authorization] = "Bearer \(grant.credential)"
    }

    mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        guard error.status == 401, !hasRefreshed, let rejected = grant else { return .doNotRetry }
        hasRefreshed = true
        do {
            grant = try await coordinator.refresh(rejecting: rejected)
            return .retry(after: .zero)
        } catch {
            return .doNotRetry
        }
    }

    /// What services are recommended to use: one coordinator as the source of credentials and as the retries' gate.
    static func withBackoff() -> any RetrierFactory {
        let coordinator = RefreshCoordinator(credential: "0123456789") { _ in "9876543210" }
        return ComposedRetrier.factory(
            AnyRetrierFactory { AuthorizationRetrier(coordinator) },
            BackoffRetrier.factory(gate: coordinator)
        )
    }
}
