import Nautilus
import NautilusTesting

/// A way to retry.
enum Policy: String, CaseIterable, Sendable {
    case none
    case immediate
    case fullJitter = "full jitter"
    case tokenBucket = "token bucket"
    case ratioBudget = "ratio budget"

    /// What makes the retriers of a client. Up to four attempts each; budgets are the client's own, as in an app.
    func retrierFactory(for client: FleetClient) -> any RetrierFactory {
        switch self {
        case .none:
            NilRetrier.factory()
        case .immediate:
            BackoffRetrier.factory(backoff: .constant(.zero), budget: .unlimited, random: client.random)
        case .fullJitter:
            BackoffRetrier.factory(budget: .unlimited, random: client.random)
        case .tokenBucket:
            BackoffRetrier.factory(budget: .shared(TokenBucketBudget()), random: client.random)
        case .ratioBudget:
            // Without a minimum: a retry a second, of each of a hundred clients, would be more than the tenth.
            BackoffRetrier.factory(
                budget: .shared(RatioBudget(ratio: 0.1, minimumRetriesPerSecond: 0, clock: client.clock)),
                random: client.random
            )
        }
    }
}
