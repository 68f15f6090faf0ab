import DemoServers
import Nautilus

/// What one environment's part of the run came to, as the client and as the server saw it.
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

/// What a retry was for.
enum RetryCause: String, CaseIterable, Sendable {
    case credentialReplaced = "credential_replaced"
    case backoff
    case retryAfter = "retry_after"
    case originPause = "origin_pause"
    case other

    init(_ reason: RetryReason?) {
        switch reason {
        case .credentialReplaced: self = .credentialReplaced
        case .backoff: self = .backoff
        case .retryAfter: self = .retryAfter
        case .gate: self = .originPause
        default: self = .other
        }
    }

    var label: String {
        switch self {
        case .credentialReplaced: "with a new token"
        case .backoff: "after backoff"
        case .retryAfter: "after Retry-After"
        case .originPause: "after the server's pause"
        case .other: "for other reasons"
        }
    }
}
