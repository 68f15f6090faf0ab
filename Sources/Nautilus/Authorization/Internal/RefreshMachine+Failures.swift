/// How a refresh fails: for now, for good, or by taking too long.
extension RefreshMachine {
    mutating func fail(
        _ flight: RefreshFlight,
        with error: any Error,
        coolDown: Duration,
        passes: Bool,
        at now: Duration
    ) -> [Action] {
        noteEnd(of: flight)
        let ended = Action.announce(.call(.refreshEnded(generation: nil)))
        switch state {
        case .refreshing(let held, flight):
            state = .coolingDown(held, flight.coolDown(of: coolDown, after: error, passes: passes, at: now))
            let start = nextStart
            let failure = error.asRecursion ?? .failed(remaining: (start ?? now) - now, underlying: error)
            return failWaiters(with: failure, until: passes ? start : nil, of: held) + [ended]
        case .coolingDown(let held, var coolDown) where coolDown.overdue?.flight == flight:
            coolDown.overdue = nil
            state = .coolingDown(held, coolDown)
            return [ended]
        default:
            // Another refresh or another session has replaced it.
            return [ended]
        }
    }

    mutating func expire(_ flight: RefreshFlight, with error: any Error) -> [Action] {
        noteEnd(of: flight)
        let ended = Action.announce(.call(.refreshEnded(generation: nil)))
        // If another refresh has replaced this one, it may have failed because of that.
        guard state.held != nil, state.flight == flight else { return [ended] }
        return expire(with: error, endOf: flight) + [ended]
    }

    /// Ends the session for good, if there is one; if not, calls are told from now on why there is none.
    mutating func expire(with error: any Error, endOf flight: RefreshFlight? = nil) -> [Action] {
        let held = state.held
        let failure = RefreshError.sessionExpired(underlying: error)
        let released = release(resumingWith: .failure(failure), endOf: flight)
        state = .signedOut(expiredBy: error)
        epoch += 1
        guard let held else {
            beginUpcoming()
            return released
        }
        return [turn(endingWith: failure)] + released + [
            .announce(.session(.sessionExpired(generation: held.versioned.generation, failure)))
        ]
    }

    mutating func overrun(_ flight: RefreshFlight, coolDown: Duration, at now: Duration) -> [Action] {
        guard case .refreshing(let held, flight) = state else { return [] }
        let freedAt = now + limits.grace
        let start = nextStart(of: held, notBefore: max(freedAt, now + coolDown.clampedToCentury))
        let failure = RefreshError.timedOut(limit: limits.timeLimit, remaining: start.map { $0 - now })
        var pause = flight.coolDown(of: coolDown, after: failure, passes: true, at: now)
        pause.overdue = .init(flight: flight, freedAt: freedAt)
        state = .coolingDown(held, pause)
        return [.cancelRefresh(flight)] + failWaiters(with: failure, until: start, of: held)
    }

    /// Starts the refresh that calls wait for, when its time has come.
    mutating func endCoolDown(at now: Duration) -> [Action] {
        guard case .coolingDown(let held, _) = state else { return [] }
        do throws(RefreshError) {
            return try begin(held, at: now)
        } catch .coolingDown {
            // Too early: the refresh will be asked for again.
            return []
        } catch {
            return [.failWaiters(error, until: nil)]
        }
    }

    private func failWaiters(with error: RefreshError, until start: Duration?, of held: HeldCredential) -> [Action] {
        [
            .failWaiters(error, until: start),
            .announce(.session(.refreshFailed(generation: held.versioned.generation, error))),
        ]
    }
}

extension Error {
    /// The error itself if it is ``RefreshError/recursive``, which does not pass with time; nil for any other.
    var asRecursion: RefreshError? {
        if case RefreshError.recursive = self as any Error { .recursive } else { nil }
    }
}

extension RefreshFlight {
    fileprivate func coolDown(
        of length: Duration,
        after cause: any Error,
        passes: Bool,
        at now: Duration
    ) -> RefreshCoolDown {
        RefreshCoolDown(
            end: now + length.clampedToCentury,
            length: length,
            failures: failures + 1,
            cause: cause,
            isTransient: passes
        )
    }
}
