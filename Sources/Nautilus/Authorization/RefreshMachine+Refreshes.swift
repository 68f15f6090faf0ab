extension RefreshMachine {
    mutating func succeed(
        _ flight: RefreshFlight,
        with credential: any SealedCredential,
        lifetime: Duration?,
        at now: Duration
    ) -> [Action] {
        // The generation decides, not the slot: a late success has spent the old token, so losing it ends the session.
        guard let session = state.session, session.grant.generation == flight.generation else {
            return [.announce(.call(.refreshEnded(generation: nil)))]
        }
        return publish(credential, lifetime: lifetime, in: session, endOf: flight, at: now)
            + [.announce(.call(.refreshEnded(generation: lastGeneration)))]
    }

    mutating func fail(
        _ flight: RefreshFlight,
        with error: any Error,
        coolDown: Duration,
        at now: Duration
    ) -> [Action] {
        let ended = Action.announce(.call(.refreshEnded(generation: nil)))
        switch state {
        case .refreshing(let session, flight):
            state = .coolingDown(session, flight.coolDown(of: coolDown, after: error, at: now))
            return failWaiters(with: .failed(underlying: error), of: session) + [ended]
        case .coolingDown(let session, var coolDown) where coolDown.overdue?.flight == flight:
            coolDown.overdue = nil
            state = .coolingDown(session, coolDown)
            return [ended]
        default:
            // Another refresh, or another session, has taken its place.
            return [ended]
        }
    }

    mutating func expire(_ flight: RefreshFlight, with error: any Error) -> [Action] {
        let ended = Action.announce(.call(.refreshEnded(generation: nil)))
        // A refresh that another one has replaced may have failed because of it.
        guard let session = state.session, state.flight == flight else { return [ended] }
        let failure = RefreshError.sessionExpired(underlying: error)
        let released = release(resumingWith: .failure(failure), endOf: flight)
        state = .signedOut(expiredBy: error)
        epoch += 1
        return released + [
            .announce(.session(.sessionExpired(generation: session.grant.generation, failure))),
            ended,
        ]
    }

    mutating func overrun(_ flight: RefreshFlight, coolDown: Duration, at now: Duration) -> [Action] {
        guard case .refreshing(let session, flight) = state else { return [] }
        let failure = RefreshError.timedOut(limit: limits.timeLimit)
        var pause = flight.coolDown(of: coolDown, after: failure, at: now)
        pause.overdue = .init(flight: flight, freedAt: now + limits.grace)
        state = .coolingDown(session, pause)
        return [.cancelRefresh(flight)] + failWaiters(with: failure, of: session)
    }

    private func failWaiters(with error: RefreshError, of session: RefreshSession) -> [Action] {
        [
            .resumeWaiters(.failure(error)),
            .announce(.session(.refreshFailed(generation: session.grant.generation, error))),
        ]
    }
}

extension RefreshFlight {
    fileprivate func coolDown(of length: Duration, after cause: any Error, at now: Duration) -> RefreshCoolDown {
        RefreshCoolDown(end: now + length.addable, length: length, failures: failures + 1, cause: cause)
    }
}
