/// The latest latencies of one origin, in the order of their coming and in that of their lengths.
///
/// Sorted as they come: a hedging service asks before every attempt, and sorting a hundred would cost more than the rest
/// of the call.
struct LatencySamples: Sendable {
    /// More do not move a quantile by much.
    static let limit = 100

    private var samples: [(time: Duration, latency: Duration)] = []
    private var sorted: [Duration] = []

    /// How many there are.
    var count: Int { samples.count }

    /// Adds one, in place of the oldest when there are too many.
    mutating func add(_ latency: Duration, at time: Duration) {
        if samples.count == Self.limit { forgetFirst(1) }
        samples.append((time, latency))
        sorted.insert(latency, at: place(of: latency))
    }

    /// Forgets the samples that are older than `time`.
    mutating func forget(before time: Duration) {
        guard let oldest = samples.first, oldest.time < time else { return }
        forgetFirst(samples.firstIndex { $0.time >= time } ?? samples.count)
    }

    /// The shortest that at least this share of them have not exceeded ("nearest rank"); nil when there is none.
    func quantile(_ quantile: Double) -> Duration? {
        guard !sorted.isEmpty else { return nil }
        // A comparison with NaN is false, so that it ends as 0.
        let share = quantile > 0 ? min(quantile, 1) : 0
        // Less a margin for the error of a `Double`: 0.95 of 20 is the nineteenth, and not the twentieth.
        let rank = (share * Double(sorted.count) - 1e-9).rounded(.up)
        return sorted[max(0, Int(rank) - 1)]
    }

    private mutating func forgetFirst(_ count: Int) {
        for sample in samples.prefix(count) { sorted.remove(at: place(of: sample.latency)) }
        samples.removeFirst(count)
    }

    /// The place of the first that is not shorter, or the end when there is none.
    private func place(of latency: Duration) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < latency { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
