extension RefreshMachine {
    mutating func signIn(
        _ credential: any ErasedCredential,
        lifetime: Duration?,
        at now: Duration
    ) -> [Action] {
        if state.held != nil {
            return [turn(endingWith: .superseded)] + beginSession(credential, lifetime: lifetime, at: now)
        }
        // A call of the time before goes on: it carries no credential, and cannot get one from here on.
        beginNext()
        return beginSession(credential, lifetime: lifetime, at: now)
    }

    /// Ends the present session, and begins the next.
    mutating func turn(endingWith error: RefreshError) -> Action {
        let ended = session
        beginNext()
        return .end(ended, error)
    }

    /// Begins the next session.
    mutating func beginNext() { session = upcoming ?? newSession() }

    /// Begins the session that calls have already, where nobody's changes otherwise.
    mutating func beginUpcoming() { if let upcoming { session = upcoming } }

    /// Begins the time of a user in the present session.
    private mutating func beginSession(
        _ credential: any ErasedCredential,
        lifetime: Duration?,
        at now: Duration
    ) -> [Action] {
        let released = release(resumingWith: .failure(.superseded))
        let versioned = nextVersion(credential)
        state = .idle(HeldCredential(versioned: versioned, expiry: expiry(of: lifetime, at: now)))
        epoch += 1
        return released + [.announce(.session(.signedIn(generation: versioned.generation)))]
    }

    mutating func signOut() -> [Action] {
        epoch += 1
        let (ended, versioned) = (turn(endingWith: .signedOut), state.held?.versioned)
        let released = release(resumingWith: .failure(.signedOut))
        state = .signedOut(expiredBy: nil)
        return [ended] + released
            + (versioned.map { [.announce(.session(.signedOut(generation: $0.generation)))] } ?? [])
    }

    mutating func replace(
        _ generation: Int,
        with credential: any ErasedCredential,
        lifetime: Duration?,
        at now: Duration
    ) -> [Action] {
        guard let held = state.held, held.versioned.generation == generation else { return [] }
        return publish(credential, lifetime: lifetime, in: held, at: now)
    }

    mutating func adopt(
        _ change: SessionChange<ReceivedCredential>,
        beginning session: CallSession?,
        at now: Duration
    ) -> [Action] {
        upcoming = session
        defer { upcoming = nil }
        switch change {
        case .refreshed(let received):
            let (credential, lifetime) = (received.credential, received.lifetime)
            return switch state {
            case .signedOut: adoptSession(received, at: now)
            // An expired credential helps no waiting call, and does not show that the server has recovered.
            case .coolingDown(let held, let coolDown) where lifetime.map { $0 <= .zero } ?? false:
                replaceExpired(held, with: credential, lifetime: lifetime, within: coolDown, at: now)
            case .idle(let held), .refreshing(let held, _), .coolingDown(let held, _):
                publish(credential, lifetime: lifetime, in: held, at: now)
            }
        case .signedIn(let received): return adoptSession(received, at: now)
        case .signedOut: return signOutElsewhere()
        case .expired(let error): return expire(with: error)
        }
    }

    private mutating func signOutElsewhere() -> [Action] {
        guard state.held == nil else { return signOut() }
        // If the session has expired here, calls still fail with that reason.
        epoch += 1
        beginUpcoming()
        return []
    }

    private mutating func adoptSession(_ received: ReceivedCredential, at now: Duration) -> [Action] {
        // At epoch 0 this is the first news of a session that was going on all along: calls that have begun already
        // belong to it.
        epoch == 0 && upcoming == nil
            ? beginSession(received.credential, lifetime: received.lifetime, at: now)
            : signIn(received.credential, lifetime: received.lifetime, at: now)
    }

    /// Replaces the credential that is held by the expired `credential`, while the cool-down continues.
    private mutating func replaceExpired(
        _ held: HeldCredential,
        with credential: any ErasedCredential,
        lifetime: Duration?,
        within coolDown: RefreshCoolDown,
        at now: Duration
    ) -> [Action] {
        epoch += 1
        let next = held.next(nextVersion(credential), expiry: expiry(of: lifetime, at: now))
        state = .coolingDown(next, coolDown)
        return [.announce(.session(.refreshed(generation: next.versioned.generation)))]
    }
}
