extension RefreshCoordinator {
    func ask(_ question: RefreshMachine.Question) async throws -> SealedGrant {
        guard !RefreshScope.contains(self) else { throw RefreshError.recursive }
        let now = stopwatch.elapsed
        let (grant, ticket) = core.withLock { core in
            core.machine.immediateAnswer(to: question, at: now).map { ($0, 0) } ?? (nil, core.waiters.takeTicket())
        }
        if let grant { return grant }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(.call(continuation)) { $0.ask(question, for: .call(continuation), ticket: ticket, at: now) }
            }
        } onCancel: {
            leave(ticket)
        }
    }

    /// Returns once no refresh holds back retries.
    func waitOutRefresh() async throws {
        let now = stopwatch.elapsed
        try await wait { $0.holdsRetries(at: now) }
    }

    /// Returns once no refresh is in flight, not even one that nobody waits for. Whoever ends the process does this
    /// first: what the server has issued would be lost with it.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled; the refresh goes on then.
    package func waitForRefresh() async throws {
        try await wait { $0.isRefreshing }
    }

    private func wait(while holds: @Sendable (RefreshState) -> Bool) async throws {
        let ticket = core.withLock { core in
            holds(core.machine.state) ? core.waiters.takeTicket() : nil
        }
        guard let ticket else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(.retry(continuation)) { $0.wait(continuation, ticket: ticket, while: holds) }
            }
        } onCancel: {
            leave(ticket)
        }
    }

    /// Lets a waiter in, unless its task has been cancelled.
    ///
    /// Looking for the cancellation and adding the waiter happen under one lock, and so does ``leave(_:)``: whichever of
    /// cancellation and entry comes second finds the other.
    private func enter(_ waiter: RefreshWaiter, _ body: (inout RefreshCore) -> [RefreshCore.Effect]) {
        let effects: [RefreshCore.Effect]? = core.withLock { core in
            Task.isCancelled ? nil : body(&core)
        }
        guard let effects else { return waiter.cancel() }
        perform(effects)
    }

    private func leave(_ ticket: Int) {
        core.withLock { $0.waiters.remove(ticket: ticket) }?.cancel()
    }
}
