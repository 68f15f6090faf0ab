extension RefreshCoordinator {
    /// Runs the refresh and its timer in tasks of their own, so that no waiter's cancellation reaches them.
    func start(_ flight: RefreshFlight, from credential: Credential, tasks: RefreshTasks) {
        let timer = BackgroundTask.start { [weak self, clock, limit = limits.timeLimit] in
            // The sleep was cancelled, because the refresh has ended in time.
            guard (try? await clock.sleep(untilLimitOf: limit)) != nil else { return }
            guard let self else { return }
            self.handle(.timeLimitReached(flight, coolDown: self.coolDown(after: flight)))
        }
        // The refresh is not part of any call's attempt. It runs once for all calls, and its failure is no reason to
        // repeat any of them.
        let refresh = BackgroundTask.start {
            let input = await self.input(of: flight, from: credential)
            self.handle(input, endOf: flight)
        }
        tasks.handIn(refresh: refresh, timer: timer)
    }

    private func input(of flight: RefreshFlight, from credential: Credential) async -> RefreshMachine.Input {
        do {
            let fresh = try await CredentialWork.run(refreshing: self) { try await obtain(credential) }
            return .refreshSucceeded(flight, CredentialBox(fresh), lifetime: lifetime(fresh))
        } catch let failure as RefreshError.Terminal {
            return .refreshFailed(flight, .terminal(failure))
        } catch {
            // A recursion is a mistake in the program, and must not look like an outage of the server.
            let error = error.comesFromRecursion ? RefreshError.recursive : error
            let failure = error as? any RefreshFailure
            let coolDown = coolDown(after: flight, askedToWait: failure?.retryAfter)
            let passes = failure?.isTransient ?? true
            return .refreshFailed(flight, .transient(error, coolDown: coolDown, passes: passes))
        }
    }

    /// The cool-down if this refresh fails. Its random part is drawn here, since `RefreshMachine` uses no randomness.
    ///
    /// - Parameter hint: How long the token endpoint asks to wait; nil when it names no time.
    private func coolDown(after flight: RefreshFlight, askedToWait hint: Duration? = nil) -> Duration {
        let drawn = limits.coolDown.delay(
            beforeRetry: flight.failures + 1,
            previous: flight.previousCoolDown,
            random: random
        )
        return max(drawn, min(hint ?? .zero, limits.retryAfterCap))
    }

    /// Sets the timer for the next refresh, for which calls are waiting.
    func set(_ alarm: RefreshAlarm) {
        let timer = BackgroundTask.start { [weak self, clock, stopwatch] in
            guard (try? await clock.sleep(for: alarm.time - stopwatch.elapsed)) != nil, let self else { return }
            self.ring(alarm)
        }
        alarm.handIn(timer)
    }
}

extension RefreshCoordinator {
    func ask(_ question: RefreshMachine.Question) async throws -> ErasedVersionedCredential {
        guard !CredentialWork.refreshes(self) else { throw RefreshError.recursive }
        let now = stopwatch.elapsed
        if let credential = guarded.withLock({ $0.machine.immediateAnswer(to: question, at: now) }) {
            return credential
        }
        let remaining = CallDeadline.remaining
        return try await guarded.wait { guarded, waiter in
            let limit = RefreshWaitLimit(limits, remaining: remaining, guarded.machine.state, at: now)
            return carryOut(.ask(question), by: .call(waiter, limit), at: now, in: &guarded)
        } joined: { work, _ in
            perform(work)
        } leave: { guarded, id in
            guard case .call(let waiter, _) = guarded.waiters.remove(id) else { return nil }
            return waiter
        }
    }

    /// Returns once no refresh holds back retries.
    ///
    /// - Returns: Whether it had to wait.
    func waitOutRefresh() async throws -> Bool {
        let now = stopwatch.elapsed
        return try await wait { $0.holdsRetries(at: now) }
    }

    /// Returns once no refresh is running, not even one that no call waits for.
    ///
    /// A command-line tool calls this before it exits, so that it does not lose a credential that the server has just
    /// issued.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled; the refresh goes on then.
    public func waitForRefresh() async throws {
        _ = try await wait { $0.isRefreshing }
    }

    /// - Returns: Whether there was something to wait for.
    private func wait(while holds: @Sendable (RefreshState) -> Bool) async throws -> Bool {
        guard guarded.withLock({ holds($0.machine.state) }) else { return false }
        try await guarded.wait { guarded, waiter in
            guarded.wait(waiter, while: holds)
        } joined: { waits, waiter in
            if !waits { waiter.resume() }
        } leave: { guarded, id in
            guard case .retry(let waiter) = guarded.waiters.remove(id) else { return nil }
            return waiter
        }
        return true
    }
}
