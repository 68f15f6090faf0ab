extension RetrierFactory where Self == AnyRetrierFactory {
    /// Several retriers as one, asked in order: the first that does not answer `doNotRetry` decides. A retrier that is
    /// not asked, or refuses, keeps its state: the retries of one do not use up the attempts of another.
    /// ```swift
    /// var retrierFactory: any RetrierFactory {
    ///     .composed(
    ///         coordinator.authorization { $1.header[.authorization] = "Bearer \($0.accessToken)" },
    ///         BackoffRetrier.factory(.standard.with { $0.gate = coordinator })
    ///     )
    /// }
    /// ```
    /// - Parameter factories: Each makes one retrier per call.
    public static func composed(_ factories: any RetrierFactory...) -> any RetrierFactory {
        ComposedRetrier.Factory(factories: factories)
    }
}

/// Several retriers as one, asked in order: the first that does not answer `doNotRetry` decides.
package struct ComposedRetrier: Retrier {
    private var retriers: [any Retrier]
    private var decider: (name: String, reason: RetryReason?)?

    init(_ retriers: [any Retrier]) {
        self.retriers = retriers
    }

    package var credentials: [any CallCredential] { retriers.joined { $0.credentials } }

    package mutating func beforeRetry(of request: HttpRequest) async throws {
        for index in retriers.indices { try await retriers[index].beforeRetry(of: request) }
    }

    package mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        decider = nil
        for index in retriers.indices {
            let decision = await retriers[index].retry(request, failingWith: error)
            let (name, reason) = (retriers[index].name, retriers[index].reason)
            guard case .doNotRetry = decision else {
                decider = (name, reason)
                return decision
            }
            if reason != nil || decider == nil { decider = (name, reason) }
        }
        return .doNotRetry
    }

    package func budgets(for origin: HttpOrigin) -> [any RetryBudget] { retriers.joined { $0.budgets(for: origin) } }

    package var latencies: [any LatencyRecord] { retriers.joined { $0.latencies } }

    /// The reason of the retrier that decided; when all refused, the last reason given.
    package var reason: RetryReason? { decider?.reason }

    /// The name of the retrier that ``reason`` comes from.
    package var name: String { decider?.name ?? String(describing: Self.self) }

    package struct Factory: RetrierFactory {
        package let factories: [any RetrierFactory]

        package var sharingKey: SharingKey? {
            let keys = factories.compactMap(\.sharingKey)
            return keys.count == factories.count ? SharingKey(keys) : nil
        }
        package var anonymous: any RetrierFactory { Factory(factories: factories.map(\.anonymous)) }

        package func create<R: Request>(for request: R) -> any Retrier {
            ComposedRetrier(factories.map { $0.create(for: request) })
        }
    }
}

extension [any Retrier] {
    /// The lists of all, as one; without a copy where only one has any.
    fileprivate func joined<Item>(_ list: (any Retrier) -> [Item]) -> [Item] {
        var all: [Item] = []
        for retrier in self {
            let own = list(retrier)
            if all.isEmpty { all = own } else { all += own }
        }
        return all
    }
}
