import DemoServers

/// The result of one race, as its processes and as the server saw it.
struct RaceRound: Sendable {
    let finishes: [Runner.Finish]
    let requests: Int
    let rejected: Int
    let tokenRequests: Int
    let refreshes: Int
    let reuseDetected: Int

    var succeeded: Int { finishes.filter(\.hasSucceeded).count }
    var longestWait: Duration { finishes.map(\.time).max() ?? .zero }
    var isGood: Bool { succeeded == finishes.count && refreshes == 1 && reuseDetected == 0 }
}

extension RaceRound {
    /// - Parameters:
    ///   - before: The server's counters before the start signal.
    ///   - after: Its counters at the end.
    init(_ finishes: [Runner.Finish], before: ServerCounters, after: ServerCounters) {
        func change(_ count: (ServerCounters) -> Int) -> Int { count(after) - count(before) }
        self.finishes = finishes
        requests = change(\.requests)
        rejected = change(\.unauthorized)
        tokenRequests = change { $0.tokenRequests.values.reduce(0, +) }
        refreshes = change(\.refreshes)
        reuseDetected = change(\.reuseDetected)
    }
}
