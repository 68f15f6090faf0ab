extension RefreshCoordinator {
    func ask(_ question: RefreshMachine.Question) async throws -> SealedGrant {
        guard !RefreshScope.contains(self) else { throw RefreshError.recursive }
        let now = stopwatch.elapsed
        if let grant = core.withLock({ $0.machine.immediateAnswer(to: question, at: now) }) { return grant }
        let remaining = CallDeadline.remaining
        return try await core.wait { core, waiter in
            core.ask(question, for: waiter, remaining: remaining, at: now)
        } joined: { effects, _ in
            perform(effects)
        } leave: { core, id in
            guard case .call(let waiter, _) = core.waiters.remove(id) else { return nil }
            return waiter
        }
    }

    /// Returns once no refresh holds back retries.
    ///
    /// - Returns: Whether one did.
    func waitOutRefresh() async throws -> Bool {
        let now = stopwatch.elapsed
        return try await wait { $0.holdsRetries(at: now) }
    }

    /// Returns once no refresh is in flight, not even one that no call waits for.
    ///
    /// A command-line tool does this before it ends, so that what the server has issued is not lost with the process.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled; the refresh goes on then.
    public func waitForRefresh() async throws {
        _ = try await wait { $0.isRefreshing }
    }

    /// - Returns: Whether there was something to wait for.
    private func wait(while holds: @Sendable (RefreshState) -> Bool) async throws -> Bool {
        guard core.withLock({ holds($0.machine.state) }) else { return false }
        try await core.wait { core, waiter in
            core.wait(waiter, while: holds)
        } joined: { effects, _ in
            perform(effects)
        } leave: { core, id in
            guard case .retry(let waiter) = core.waiters.remove(id) else { return nil }
            return waiter
        }
        return true
    }
}
