import Nautilus

/// The loop of the simulation's thread.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Simulation {
    /// Runs jobs, and moves the clock when there are none, until there is an outcome.
    func work<Result>(until outcome: () -> Swift.Result<Result, any Error>?) -> Swift.Result<Result, any Error> {
        for count in 0..<maxJobs {
            if let outcome = outcome() { return outcome }
            if executor.runNext() { continue }
            // Tasks that asked to wait for this moment come before time.
            if executor.resumeSettled() { continue }
            if advanceClock() { continue }
            if waitForOthers(or: { outcome() != nil }) { continue }
            return .failure(SimulationError.stuck(seed: seed, at: clock.now.offset, jobCount: count))
        }
        return .failure(SimulationError.tooManyJobs(seed: seed, at: clock.now.offset, limit: maxJobs))
    }

    /// Cancels what is left and lets it finish, without time passing.
    func finish(cancelling root: Task<Void, Never>) {
        root.cancel()
        background.cancel()
        // Ample for thousands of tasks to end, and an end for those that do not heed cancellation.
        for _ in 0..<1_000_000 {
            guard executor.runNext() || executor.resumeSettled() else { return executor.end(abandoning: false) }
        }
        executor.end(abandoning: true)
    }

    /// Moves the clock to the next deadline; false without sleepers.
    private func advanceClock() -> Bool {
        guard let next = clock.nextDeadline else { return false }
        clock.advance(to: next)
        return true
    }

    /// Gives other threads the time to bring a job, a sleeper or the end; false when they bring nothing.
    private func waitForOthers(or isOver: () -> Bool) -> Bool {
        // In slices, since only a job ends the wait by itself.
        let slices = max(1, Int(grace / .milliseconds(10)))
        return (0..<slices).contains { _ in
            executor.waitForJob(milliseconds: 10) || clock.nextDeadline != nil || isOver()
        }
    }
}
