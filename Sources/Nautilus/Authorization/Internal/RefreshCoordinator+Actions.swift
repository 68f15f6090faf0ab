extension RefreshCoordinator {
    /// The part of an action that is done after the lock has been released, since it may reach code that takes the lock.
    typealias Work = [@Sendable () -> Void]

    /// Gives the machine an input that is not a call's question, and carries out what it asks for.
    func handle(_ input: RefreshMachine.Input) {
        let now = stopwatch.elapsed
        perform(guarded.withLock { carryOut(input, at: now, in: &$0) })
    }

    /// Handles how a refresh has ended, and releases its tasks.
    func handle(_ input: RefreshMachine.Input, endOf flight: RefreshFlight) {
        let now = stopwatch.elapsed
        perform(
            guarded.withLock { guarded in
                let work = carryOut(input, at: now, in: &guarded)
                guard let tasks = guarded.tasks.removeValue(forKey: flight.id) else { return work }
                return work + [{ tasks.end() }]
            }
        )
    }

    /// Starts the refresh that calls wait for, when the alarm rings.
    func ring(_ alarm: RefreshAlarm) {
        let now = stopwatch.elapsed
        perform(
            guarded.withLock { guarded in
                guarded.takeAlarm(alarm) ? carryOut(.coolDownEnded, at: now, in: &guarded) : []
            }
        )
    }

    /// Gives the machine an input, and carries out each action as far as the lock guards it; called under the lock.
    ///
    /// - Parameter asker: The call that asks, if the input is a call's question.
    /// - Returns: The rest, for ``perform(_:)``.
    func carryOut(
        _ input: RefreshMachine.Input,
        by asker: RefreshWaiter? = nil,
        at now: Duration,
        in guarded: inout GuardedRefresh
    ) -> Work {
        var work: Work = []
        func answer(_ waiters: [RefreshWaiter], with result: Result<ErasedVersionedCredential, RefreshError>) {
            work.append { for waiter in waiters { waiter.resume(with: result) } }
        }
        for action in guarded.handle(input, at: now) {
            let failures = guarded.machine.state.failures
            switch action {
            case .answer(let result):
                if let asker { answer([asker], with: result) }
            case .wait:
                if let asker { guarded.waiters.append(asker) }
            case .waitOut(let error, let start):
                guard let asker else { break }
                if asker.waits(until: start, failures: failures) {
                    guarded.waiters.append(asker)
                } else {
                    answer([asker], with: .failure(error))
                }
            case .resumeWaiters(let result):
                answer(guarded.waiters.removeAll(), with: result)
            case .failWaiters(let error, let start?):
                let failed = guarded.waiters.remove { !$0.waits(until: start, failures: failures) }
                answer(failed, with: .failure(error))
            case .failWaiters(let error, nil):
                answer(guarded.waiters.removeAll(), with: .failure(error))
            case .startRefresh(let flight, let credential):
                let tasks = RefreshTasks()
                guarded.tasks[flight.id] = tasks
                work.append { self.start(flight, from: credential.restored(as: Credential.self), tasks: tasks) }
            case .cancelRefresh(let flight):
                if let tasks = guarded.tasks[flight.id] { work.append { tasks.cancel() } }
            case .end(let session, let error):
                work.append(session.close(error))
            case .announce(let announcement):
                guarded.outbox.add(announcement)
            }
        }
        return work + setAlarm(in: &guarded)
    }

    /// Sets the alarm for the next refresh if calls wait for it, and stops it otherwise.
    private func setAlarm(in guarded: inout GuardedRefresh) -> Work {
        let start = guarded.waiters.count > 0 ? guarded.machine.nextStart : nil
        let previous = guarded.alarm
        guard start != previous?.time else { return [] }
        let next = start.map(RefreshAlarm.init)
        guarded.alarm = next
        return [
            {
                previous?.stop()
                if let next { self.set(next) }
            }
        ]
    }

    /// Does the work that the actions have left, and then tells of what has happened.
    func perform(_ work: Work) {
        for step in work { step() }
        deliverAnnouncements()
    }

    private func deliverAnnouncements() {
        var batch = guarded.withLock { $0.outbox.beginDelivery() }
        while let announcements = batch {
            for announcement in announcements {
                switch announcement {
                case .session(let event):
                    listener?(event)
                    broadcast.send(event)
                    publishCredential()
                case .call(let event): if observer.isEnabled { observer.observe(event) }
                }
            }
            batch = guarded.withLock { $0.outbox.continueDelivery() }
        }
    }
}
