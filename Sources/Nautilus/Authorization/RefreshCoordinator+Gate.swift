extension RefreshCoordinator {
    /// Returns once no refresh is in flight that calls would have to wait for, no pause of `origin` runs, and its turn
    /// has come: calls that have waited go on one after the other, as by ``OriginPauses``.
    ///
    /// A refresh in the background, while the credential still serves, holds nothing back. Within a refresh of this
    /// coordinator only the pause counts.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func pass(to origin: HttpOrigin) async throws {
        let isRefresh = RefreshScope.contains(self)
        repeat {
            // All that have waited for the refresh would go on at once.
            var hasWaited = false
            repeat {
                if !isRefresh, try await waitOutRefresh() { hasWaited = true }
                try await pauses.waitOut(origin)
                // A refresh may have started during the pause.
            } while !isRefresh && isHoldingRetries
            try await pauses.takeTurn(to: origin, havingWaited: hasWaited)
        } while pauses.remainingPause(of: origin) > .zero || !isRefresh && isHoldingRetries
    }

    /// Holds back all retries to `origin` for at least `pause`; a longer pause that is running stays.
    public func close(_ origin: HttpOrigin, for pause: Duration) {
        pauses.close(origin, for: pause)
    }

    /// The rest of the pause that `origin` ordered; zero when there is none. Refreshes do not count.
    public func remainingPause(of origin: HttpOrigin) -> Duration {
        pauses.remainingPause(of: origin)
    }

    private var isHoldingRetries: Bool {
        let now = stopwatch.elapsed
        return core.withLock { $0.machine.state.holdsRetries(at: now) }
    }
}
