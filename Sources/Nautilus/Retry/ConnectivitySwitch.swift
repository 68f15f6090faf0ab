/// Connectivity as somebody tells it: a test, or a monitor of the network that the system does not have.
///
/// ```swift
/// let connectivity = ConnectivitySwitch(isOnline: false)
/// connectivity.set(isOnline: true)  // whoever waits for it goes on
/// ```
public final class ConnectivitySwitch: Connectivity {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    private struct State {
        var isOnline: Bool
        var lastId = 0
        /// In the order in which they came.
        var waiters: [(id: Int, waiter: Waiter)] = []
    }

    private let state: Locked<State>

    /// Creates a switch.
    ///
    /// - Parameter isOnline: What holds until it is told otherwise. Default: true, so that who never tells holds up nobody.
    public init(isOnline: Bool = true) {
        state = Locked(State(isOnline: isOnline))
    }

    /// What it was last told.
    public var isOnline: Bool { state.withLock { $0.isOnline } }

    /// How many wait now.
    public var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// Tells it; all who wait go on when it is true.
    public func set(isOnline: Bool) {
        let waiters = state.withLock { state -> [Waiter] in
            state.isOnline = isOnline
            guard isOnline else { return [] }
            defer { state.waiters = [] }
            return state.waiters.map(\.waiter)
        }
        waiters.forEach { $0.resume() }
    }

    /// Returns when it is told that the device is online; at once when it was.
    ///
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    public func waitUntilOnline() async throws {
        let id = state.withLock { state in
            state.lastId += 1
            return state.lastId
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { join($0, id: id) }
        } onCancel: {
            leave(id)
        }
    }

    /// Looking for the cancellation and joining happen under one lock, and so does leaving: whichever comes second finds
    /// the other.
    private func join(_ waiter: Waiter, id: Int) {
        enum Answer { case cancelled, online, wait }
        let answer: Answer = state.withLock { state in
            if Task.isCancelled { return .cancelled }
            if state.isOnline { return .online }
            state.waiters.append((id, waiter))
            return .wait
        }
        switch answer {
        case .cancelled: waiter.resume(throwing: CancellationError())
        case .online: waiter.resume()
        case .wait: break
        }
    }

    private func leave(_ id: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).waiter }
        }
        waiter?.resume(throwing: CancellationError())
    }
}
