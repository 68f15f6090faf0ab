/// Several retriers as one: asked in order, the first that does not answer `doNotRetry` decides.
///
/// ```swift
/// ComposedRetrier.factory(AuthorizationRetrier.factory(coordinator), BackoffRetrier.factory(.standard.with { $0.gate = coordinator }))
/// ```
/// A retrier that is not asked, or refuses, keeps its state: the retries of one do not use up the attempts of another.
/// Before an attempt they are prepared in the opposite order, so that the first has the last look there, too: it
/// stamps its credential after the others have waited.
public struct ComposedRetrier: Retrier {
    private var retriers: [any Retrier]
    private var decider: (name: String, reason: RetryReason?)?
    /// Which of them wanted the retry; nil when none did.
    private var decidingIndex: Int?

    /// Makes one retrier per call from one of each factory, in order.
    public static func factory(_ factories: any RetrierFactory...) -> any RetrierFactory {
        Factory(factories: factories)
    }

    /// Composes retriers that exist.
    public init(_ retriers: [any Retrier]) {
        self.retriers = retriers
    }

    /// Prepares with each, the last first.
    ///
    /// - Throws: The error of the first that fails; the others are not asked.
    public mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
        for index in retriers.indices.reversed() {
            try await retriers[index].prepare(&httpRequest, context: context)
        }
    }

    /// Asks each in order until one decides.
    public mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        (decider, decidingIndex) = (nil, nil)
        for index in retriers.indices {
            let decision = await retriers[index].retry(request, failingWith: error)
            let (name, reason) = (retriers[index].name, retriers[index].reason)
            guard case .doNotRetry = decision else {
                (decider, decidingIndex) = ((name, reason), index)
                return decision
            }
            if reason != nil || decider == nil { decider = (name, reason) }
        }
        return .doNotRetry
    }

    /// Tells all of them.
    public mutating func succeeded(_ success: CallSuccess) {
        for index in retriers.indices { retriers[index].succeeded(success) }
    }

    /// The part drawn by the retrier that decided; one of its own when none has.
    public func spread(over span: Duration) -> Duration {
        guard let index = decidingIndex else { return span.scaled(by: SystemRandomSource().nextFraction()) }
        return retriers[index].spread(over: span)
    }

    /// The reason of the retrier that decided; when all refused, of the last that gave one.
    public var reason: RetryReason? { decider?.reason }

    /// The name of that retrier.
    public var name: String { decider?.name ?? String(describing: Self.self) }

    private struct Factory: RetrierFactory {
        let factories: [any RetrierFactory]

        var descriptions: [RetryDescription] { factories.flatMap(\.descriptions) }
        var signedOut: any RetrierFactory { Factory(factories: factories.map(\.signedOut)) }

        func create<R: Request>(for request: R) -> any Retrier {
            ComposedRetrier(factories.map { $0.create(for: request) })
        }
    }
}
