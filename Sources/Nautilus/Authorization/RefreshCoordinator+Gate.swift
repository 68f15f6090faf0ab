extension RefreshCoordinator {
    /// Returns once no refresh is in flight that calls would have to wait for, and no pause of `origin` runs.
    ///
    /// A refresh in the background, while the credential still serves, holds nothing back. Within a refresh of this
    /// coordinator only the pause counts.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func pass(to origin: HttpOrigin) async throws {
        let isRefresh = RefreshScope.contains(self)
        repeat {
            if !isRefresh { try await waitOutRefresh() }
            try await pauses.pass(to: origin)
            // A refresh may have started during the pause.
        } while !isRefresh && isHoldingRetries
    }

    /// Holds back all retries to `origin` for at least `pause`; a longer pause that is running stays.
    public func close(_ origin: HttpOrigin, for pause: Duration) {
        pauses.close(origin, for: pause)
    }

    /// What is left of the pause that `origin` ordered; zero when there is none. Refreshes do not count.
    public func remainingPause(of origin: HttpOrigin) -> Duration {
        pauses.remainingPause(of: origin)
    }

    private var isHoldingRetries: Bool {
        let now = stopwatch.elapsed
        return core.withLock { $0.machine.state.holdsRetries(at: now) }
    }
}
