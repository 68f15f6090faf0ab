import Nautilus

/// The tasks of a ``Simulation`` that are not awaited, so that its end can cancel them.
final class BackgroundWork: Sendable {
    private struct State {
        var lastId = 0
        var cancellations: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Locked(State())

    func begin() -> Int {
        state.withLock { state in
            state.lastId += 1
            state.cancellations[state.lastId] = {}
            return state.lastId
        }
    }

    /// Keeps the way to cancel a task, unless it has ended in the meantime.
    func keep(_ id: Int, cancellation: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard state.cancellations[id] != nil else { return }
            state.cancellations[id] = cancellation
        }
    }

    func end(_ id: Int) {
        state.withLock { $0.cancellations[id] = nil }
    }

    /// Cancels all, in the order of their starts.
    func cancel() {
        let cancellations = state.withLock { $0.cancellations }
        for (_, cancel) in cancellations.sorted(by: { $0.key < $1.key }) { cancel() }
    }
}
