import Nautilus

/// Counts, from anywhere.
package final class Counter: Sendable {
    private let count = Locked(0)

    package init() {}

    package var value: Int { count.withLock { $0 } }

    @discardableResult
    package func increment() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }

    /// Returns once it has counted this far: the suite's time limit ends a wait that never does.
    package func reaches(_ count: Int) async {
        while value < count, !Task.isCancelled { await Task.yield() }
    }
}
