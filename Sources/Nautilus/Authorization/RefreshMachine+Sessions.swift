extension RefreshMachine {
    mutating func signIn(_ credential: Credential, lifetime: Duration?, at now: Duration) -> [Action] {
        let abandoned = abandonRefresh(resumingWith: .failure(.superseded))
        let grant = nextGrant(credential)
        let session = RefreshSession(
            firstGeneration: grant.generation,
            grant: grant,
            expiry: expiry(of: lifetime, at: now)
        )
        state = .idle(session)
        return abandoned + [.announce(.session(.signedIn(generation: grant.generation)))]
    }

    mutating func signOut() -> [Action] {
        guard let session = state.session else {
            state = .signedOut(expiredBy: nil)
            return []
        }
        let abandoned = abandonRefresh(resumingWith: .failure(.superseded))
        state = .signedOut(expiredBy: nil)
        return abandoned + [.announce(.session(.signedOut(generation: session.grant.generation)))]
    }

    mutating func replace(
        _ generation: Int,
        with credential: Credential,
        lifetime: Duration?,
        at now: Duration
    ) -> [Action] {
        guard let session = state.session, session.grant.generation == generation else { return [] }
        return publish(credential, lifetime: lifetime, in: session, at: now)
    }

    /// Makes `credential` the next generation of `session`, and hands it to all who wait.
    mutating func publish(
        _ credential: Credential,
        lifetime: Duration?,
        in session: RefreshSession<Credential>,
        endOf ended: RefreshFlight? = nil,
        at now: Duration
    ) -> [Action] {
        let grant = nextGrant(credential)
        let abandoned = abandonRefresh(resumingWith: .success(grant), unless: ended)
        state = .idle(
            RefreshSession(
                firstGeneration: session.firstGeneration,
                grant: grant,
                expiry: expiry(of: lifetime, at: now)
            )
        )
        return abandoned + [.announce(.session(.refreshed(generation: grant.generation)))]
    }

    /// What it takes to do without the refresh that holds the slot, unless it is the one that has `ended`.
    private func abandonRefresh(
        resumingWith result: Result<Grant, RefreshError>,
        unless ended: RefreshFlight? = nil
    ) -> [Action] {
        guard let flight = state.flight, flight != ended else { return [.resumeWaiters(result)] }
        return [.cancelRefresh(flight), .resumeWaiters(result)]
    }

    private mutating func nextGrant(_ credential: Credential) -> Grant {
        lastGeneration += 1
        return Grant(credential: credential, generation: lastGeneration)
    }

    private func expiry(of lifetime: Duration?, at now: Duration) -> CredentialExpiry? {
        lifetime.map { CredentialExpiry(receivedAt: now, lifetime: $0, limits: limits) }
    }
}
