@testable import Nautilus
@testable import NautilusHTTP

/// A source of always the same draw.
struct Draw: RandomSource {
    let fraction: Double
    init(_ fraction: Double) { self.fraction = fraction }
    func nextFraction() -> Double { fraction }
}

extension RefreshLimits {
    /// For tests that look at one refresh by itself: no call waits out a cool-down.
    static let impatient = RefreshLimits(maxCoolDowns: 0)
}

extension RefreshCoordinator {
    /// How many refreshes have not ended, including those that no call waits for.
    var runningCount: Int { guarded.withLock { $0.tasks.count } }
}

extension AsyncStream<RefreshEvent> {
    /// The next events, in a few words.
    func first(_ count: Int) async -> [String] {
        var summaries: [String] = []
        var iterator = makeAsyncIterator()
        while summaries.count < count, let event = await iterator.next() { summaries.append(event.summary) }
        return summaries
    }
}
