/// The running side of one refresh: its task and its timer, which may be cancelled before they have been handed in.
final class RefreshTasks: Sendable {
    private struct State {
        var refresh: Task<Void, Never>?
        var timer: Task<Void, Never>?
        var isCancelled = false
        var hasEnded = false
    }

    private let state = Locked(State())

    /// Takes charge of the two tasks, and carries out the requests made of them meanwhile.
    func handIn(refresh: Task<Void, Never>, timer: Task<Void, Never>) {
        let (isCancelled, hasEnded) = state.withLock { state in
            (state.refresh, state.timer) = (refresh, timer)
            return (state.isCancelled, state.hasEnded)
        }
        if isCancelled { refresh.cancel() }
        if isCancelled || hasEnded { timer.cancel() }
    }

    /// Cancels the refresh: its result is not wanted any more.
    func cancel() {
        let (refresh, timer) = state.withLock { state in
            state.isCancelled = true
            return (state.refresh, state.timer)
        }
        refresh?.cancel()
        timer?.cancel()
    }

    /// The refresh has ended, so its timer is of no use.
    func end() {
        let timer = state.withLock { state in
            state.hasEnded = true
            return state.timer
        }
        timer?.cancel()
    }
}

/// Starts the refresh that calls wait for during a cool-down; it may be stopped before its timer has been handed in.
final class RefreshAlarm: Sendable {
    /// When it rings, on the coordinator's stopwatch.
    let time: Duration
    private let state = Locked<(timer: Task<Void, Never>?, isStopped: Bool)>((nil, false))

    init(time: Duration) {
        self.time = time
    }

    /// Takes charge of the timer.
    func handIn(_ timer: Task<Void, Never>) {
        let isStopped = state.withLock { state in
            state.timer = timer
            return state.isStopped
        }
        if isStopped { timer.cancel() }
    }

    /// It has become needless: the time is another one, or none.
    func stop() {
        let timer = state.withLock { state in
            state.isStopped = true
            return state.timer
        }
        timer?.cancel()
    }
}
