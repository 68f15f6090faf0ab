import DemoServers
import Nautilus

/// The result of one environment's part of the run, as the client and as the server saw it.
struct EnvironmentResult: Sendable {
    let name: String
    let order: Int
    let outcomes: [CallOutcome]
    let server: ServerCounters
    /// The titles of all notes on the server after the run.
    let titles: [String]

    var calls: Int { outcomes.count }
    var succeeded: Int { outcomes.filter { $0.failure == nil }.count }
    var attempts: Int { outcomes.reduce(0) { $0 + $1.trace.attempts.count } }
    var retries: Int { outcomes.reduce(0) { $0 + $1.trace.retries } }
    var failures: [String] { outcomes.compactMap(\.failure) }

    /// Notes whose title another note has, too: every call has its own, so a retry was carried out twice.
    var duplicates: Int { titles.count - Set(titles).count }

    /// How many retries there were for each reason.
    var retriesByReason: [RetryCause: Int] {
        var counts: [RetryCause: Int] = [:]
        for attempt in outcomes.flatMap(\.trace.attempts) {
            guard let decision = attempt.decision, case .retry = decision.action else { continue }
            counts[RetryCause(decision.reason), default: 0] += 1
        }
        return counts
    }

    /// The duration below which a share of the calls took; zero when there was no call.
    func percentile(_ share: Double) -> Duration {
        let sorted = outcomes.map(\.trace.duration).sorted()
        guard let last = sorted.indices.last else { return .zero }
        return sorted[min(last, Int(share * Double(sorted.count)))]
    }
}
