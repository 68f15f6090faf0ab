import Nautilus
import NautilusFleets
import NautilusTraffic

/// A way to retry.
enum Policy: String, CaseIterable, Sendable {
    case none
    case immediate
    case fullJitter = "full jitter"
    case tokenBucket = "token bucket"
    case ratioBudget = "ratio budget"

    /// The factory of a client's retriers. Up to four attempts each; budgets are the client's own, as in an app.
    func retrierFactory(for client: FleetClient) -> any RetrierFactory {
        switch self {
        case .none:
            .never
        case .immediate:
            BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = .constant(.zero)
                    $0.budget = .unlimited
                    $0.random = client.random
                }
            )
        case .fullJitter:
            BackoffRetrier.factory(
                .standard.with {
                    $0.budget = .unlimited
                    $0.random = client.random
                }
            )
        case .tokenBucket:
            BackoffRetrier.factory(
                .standard.with {
                    $0.budget = .shared(TokenBucketBudget())
                    $0.random = client.random
                }
            )
        case .ratioBudget:
            // Without a minimum: a retry a second, of each of a hundred clients, would be more than the tenth.
            BackoffRetrier.factory(
                .standard.with {
                    $0.budget = .shared(RatioBudget(ratio: 0.1, minimumRetriesPerSecond: 0, clock: client.clock))
                    $0.random = client.random
                }
            )
        }
    }
}
