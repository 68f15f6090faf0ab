import Nautilus

extension ManualClock {
    /// Moves the clock, waking the sleepers that are due.
    ///
    /// They wake in the order of their deadlines, and the clock stops at each deadline on the way. Work that they do
    /// next runs afterwards or on other threads; use ``run(for:)`` to let it sleep again on the way.
    ///
    /// - Parameter duration: How far; nothing happens when it is negative. Two tasks that advance at once move the
    ///   clock by the sum.
    public func advance(by duration: Duration) {
        guard duration >= .zero else { return }
        var left = duration
        while let sleeper = step(&left) { sleeper.resume() }
    }

    /// Moves the clock to `deadline`, waking the sleepers that are due; nothing happens when it has passed.
    public func advance(to deadline: Instant) {
        while let sleeper = step(to: deadline) { sleeper.resume() }
    }

    /// Moves the clock in one step, as when the process was suspended: sleepers that were due meanwhile wake now, too
    /// late.
    ///
    /// ``advance(by:)`` stops at each deadline, so that every sleeper wakes in time; here time has passed and nothing
    /// could run.
    ///
    /// - Parameter duration: For how long; nothing happens when it is negative.
    public func suspend(for duration: Duration) {
        let due = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
            state.now = max(state.now, Instant(state.now).advanced(by: duration).offset)
            var due: [CheckedContinuation<Void, any Error>] = []
            while let next = state.queue.nextDeadline, next <= state.now, let sleeper = state.queue.popFirst() {
                due.append(sleeper)
            }
            return due
        }
        due.forEach { $0.resume() }
    }

    /// Returns once at least `count` sleep, without any real time passing.
    ///
    /// - Throws: `CancellationError` when the task is or becomes cancelled.
    public func waitForSleepers(count: Int) async throws {
        try await state.waitForCount(count)
    }

    /// Goes to the next deadline if it is at most `left` away, and takes its sleeper out; otherwise goes all of `left`.
    private func step(_ left: inout Duration) -> CheckedContinuation<Void, any Error>? {
        let before = left
        let (sleeper, gone) = state.withLock { state -> (CheckedContinuation<Void, any Error>?, Duration) in
            let start = Instant(state.now)
            let end = start.advanced(by: before)
            guard let next = state.queue.nextDeadline, next <= end.offset else {
                state.now = end.offset
                return (nil, before)
            }
            state.now = max(state.now, next)
            return (state.queue.popFirst(), start.duration(to: Instant(state.now)))
        }
        left = before - gone
        return sleeper
    }

    private func step(to deadline: Instant) -> CheckedContinuation<Void, any Error>? {
        state.withLock { state in
            guard let next = state.queue.nextDeadline, next <= deadline.offset else {
                state.now = max(state.now, deadline.offset)
                return nil
            }
            state.now = max(state.now, next)
            return state.queue.popFirst()
        }
    }
}
