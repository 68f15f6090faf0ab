import Nautilus

extension ManualClock {
    /// Moves the clock from deadline to deadline, letting the woken work proceed in between, until there are no
    /// sleepers.
    ///
    /// In a ``Simulation`` this is exact. Elsewhere there is no way to know when other tasks are idle, so the clock
    /// moves on when nothing new has gone to sleep while this task gave way many times; prefer
    /// ``waitForSleepers(count:)`` and ``advance(by:)`` where it matters. Returns early when the task is cancelled, and
    /// never for work that sleeps again and again: ``run(for:)`` has an end.
    public func run() async {
        await run(until: nil)
    }

    /// Moves the clock by `duration` like ``run()``: work that wakes on the way can sleep, and wake, again.
    public func run(for duration: Duration) async {
        let end = now.advanced(by: duration)
        await run(until: end)
        advance(to: end)
    }

    private func run(until end: Instant?) async {
        while !Task.isCancelled {
            await settle(self)
            guard let next = nextDeadline else { return }
            if let end, next > end { return }
            advance(to: next)
        }
    }

    /// Gives way until nothing has gone to sleep for a while.
    func settleByYielding() async {
        var seen = sleeps.count
        var quiet = 0
        while quiet < 100 {
            // A detached task of low priority comes after the work that is ready to run.
            await Task.detached(priority: .background) { await Task.yield() }.value
            let asked = state.withLock { $0.sleeps.count }
            quiet = asked == seen ? quiet + 1 : 0
            seen = asked
        }
    }
}
