extension ServiceConfiguration {
    /// The configuration for a request that stands for another one, such as a page's: the retrier is asked about `base`.
    ///
    /// - Parameter repeats: Whether a failure is repeated at once, whatever the retrier says. Default: never.
    package func derived(
        from base: some Request,
        repeats: @escaping @Sendable (HttpError) -> Bool = { _ in false }
    ) -> ServiceConfiguration {
        var derived = self
        derived.retrierFactory = DerivedRetrierFactory(factory: retrierFactory, base: base, repeats: repeats)
        return derived
    }
}

/// Makes the retriers of derived requests.
private struct DerivedRetrierFactory<Base: Request>: RetrierFactory {
    let factory: any RetrierFactory
    let base: Base
    let repeats: @Sendable (HttpError) -> Bool

    func create<R: Request>(for request: R) -> any Retrier {
        DerivedRetrier(retrier: factory.create(for: base), base: base, repeats: repeats)
    }

    var sharingKey: SharingKey? { factory.sharingKey }
    var anonymous: any RetrierFactory {
        DerivedRetrierFactory(factory: factory.anonymous, base: base, repeats: repeats)
    }
}

/// Passes everything on to the service's retrier, with the declared request in place of the derived one.
private struct DerivedRetrier<Base: Request>: Retrier {
    var retrier: any Retrier
    let base: Base
    let repeats: @Sendable (HttpError) -> Bool
    private var hasRepeated = false

    init(retrier: any Retrier, base: Base, repeats: @escaping @Sendable (HttpError) -> Bool) {
        (self.retrier, self.base, self.repeats) = (retrier, base, repeats)
    }

    var credentials: [any CallCredential] { retrier.credentials }
    mutating func beforeRetry(of request: HttpRequest) async throws { try await retrier.beforeRetry(of: request) }

    mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        hasRepeated = repeats(error)
        if hasRepeated { return .retry(after: .zero) }
        return await retrier.retry(base, failingWith: error)
    }

    func budgets(for origin: HttpOrigin) -> [any RetryBudget] { retrier.budgets(for: origin) }
    var latencies: [any LatencyRecord] { retrier.latencies }
    var reason: RetryReason? { hasRepeated ? nil : retrier.reason }
    var name: String { hasRepeated ? "Download" : retrier.name }
}
