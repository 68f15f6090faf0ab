import Nautilus

/// Stamps every attempt with the shared credential, and answers a 401 once with a refreshed one.
struct AuthorizationRetrier: Retrier {
    private var lease: CredentialLease<RefreshCoordinator<String>>

    init(_ coordinator: RefreshCoordinator<String>) {
        self.lease = CredentialLease(coordinator)
    }

    mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
        try await lease.stamp(&httpRequest, context: context) { token, request in
            request.header[.authorization] = "Bearer \(token)"
        }
    }

    mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        await lease.decide(after: error)
    }

    /// The recommended retrier for services: one coordinator as the source of credentials and as the retries' gate.
    static func withBackoff() -> any RetrierFactory {
        let coordinator = RefreshCoordinator(credential: "0123456789") { _ in "9876543210" }
        return ComposedRetrier.factory(
            AnyRetrierFactory { AuthorizationRetrier(coordinator) },
            BackoffRetrier.factory(.standard.with { $0.gate = coordinator })
        )
    }
}
