import Nautilus

/// The limits that a server has reported for one partition.
struct PaceLimits: Sendable {
    /// More than any server has; the oldest goes, so that ever new names fill no memory.
    static let maxCount = 32

    private var limits: [PaceLimit] = []

    /// How many the server has reported.
    var count: Int { limits.count }

    /// When time will have overtaken all that is known; nil when nothing is.
    var lastEnd: Duration? { limits.map(\.end).max() }

    /// How long nothing may go since a limit is used up, or would be if all under way counted; nil when one may.
    func blockedUntil(underWay: Int, at now: Duration) -> Duration? {
        limits.reduce(nil) { block, limit in
            guard limit.end > now, limit.isUsedUp(underWay: underWay) else { return block }
            return max(block ?? limit.end, limit.end)
        }
    }

    /// Begins the windows that are due: where quota and length are known, anew; elsewhere the limit is forgotten.
    mutating func reset(at now: Duration, lastNumber: Int) {
        guard limits.contains(where: { $0.end <= now }) else { return }
        limits = limits.compactMap { $0.end <= now ? $0.next(at: now, lastNumber: lastNumber) : $0 }
    }

    /// Takes in what the answer to the request with this number says, and charges the limits that it says nothing of.
    ///
    /// - Parameter lastNumber: The number of the last request that has gone.
    mutating func report(_ reports: [RateLimit], by number: Int, lastNumber: Int, at now: Duration) {
        for index in limits.indices where !reports.contains(where: { limits[index].isOf($0) }) {
            limits[index].charge()
        }
        for report in reports {
            // The server has put the request into another partition than those before: the old limits are another's.
            limits.removeAll {
                $0.policy == report.policy && $0.partition != report.partition && $0.lastReported < number
            }
            guard let fresh = PaceLimit(report, lastNumber: lastNumber, at: now) else { continue }
            if let index = limits.firstIndex(where: { $0.isOf(report) }) {
                limits[index].update(with: fresh, by: number)
            } else {
                limits.append(fresh)
            }
        }
        if count > Self.maxCount { limits.removeFirst(count - Self.maxCount) }
    }

    /// A request has ended that may have counted, without an answer that says so.
    mutating func charge() {
        for index in limits.indices { limits[index].charge() }
    }
}
