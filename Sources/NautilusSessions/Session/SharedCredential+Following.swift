import Nautilus

extension SharedCredential {
    /// Follows what other processes have done to the store, if anything.
    ///
    /// - Throws: ``SessionError`` when the store cannot be read and nothing is known yet. Later, memory is relied on.
    func catchUp() async throws(SessionError) {
        while true {
            // Before the look, so that what is adopted is never older than what is here.
            let (epoch, known) = present()
            // Memory is newer than the store.
            guard known.unsaved == nil else { return await heedEndWhileUnsaved() }
            do throws(SessionError) {
                let version = try await store.version()
                guard !known.isKnown || version != known.version else { return storeWorked() }
                if follow(try await store.look(), from: known, since: epoch) { return storeWorked() }
            } catch {
                guard known.isKnown else { throw error }
                return storeFailed(error)
            }
        }
    }

    /// Follows the end of a session whose renewed credential is still unsaved. Its record in the store is older than
    /// that, but another process may sign out, for which it needs no lock.
    func heedEndWhileUnsaved() async {
        while true {
            let (epoch, known) = present()
            guard case .renewal(let record) = known.unsaved else { return }
            // A store that cannot be read tells nothing.
            guard let look = try? await store.look(), look.version != known.version else { return }
            if look.stored?.session == record.session {
                return state.withLock { if Known($0) == known { $0.version = look.version } }
            }
            guard follow(look, from: known, since: epoch) else { continue }
            takeKeptLock()?.unlock()
            return
        }
    }

    /// The coordinator's epoch, and what is known at that time.
    func present() -> (epoch: Coordinator.Epoch?, known: Known) {
        let coordinator = state.withLock { $0.coordinator }
        let epoch = coordinator?.epoch
        return (epoch, state.withLock { Known($0) })
    }

    /// Makes what the store has the coordinator's, too.
    ///
    /// - Returns: False when something has happened here meanwhile: look again.
    func follow(
        _ look: SharedStore<Credential>.Look,
        from known: Known,
        since epoch: Coordinator.Epoch?
    ) -> Bool {
        defer { tellEnds() }
        return turn.withLock { _ in
            if let epoch, let adoption = adoption(of: look, from: known) {
                let coordinator = state.withLock { state in
                    state.isChanging = true
                    return state.coordinator
                }
                guard coordinator?.adopt(adoption, since: epoch) ?? true else {
                    state.withLock { $0.isChanging = $0.isTorn }
                    return false
                }
            }
            return state.withLock { state in
                guard Known(state) == known else {
                    // The coordinator may have another session than the record now, until the next look.
                    state.isTorn = state.isChanging
                    return false
                }
                (state.isKnown, state.record, state.version) = (true, look.stored, look.version)
                state.lastNumber = max(state.lastNumber, look.stored?.number ?? 0)
                (state.unsaved, state.overruled) = (nil, [])
                (state.isChanging, state.isTorn) = (false, false)
                return true
            }
        }
    }

    /// The change of the session from one record to the next; nil when it does not matter to calls.
    private func adoption(of look: SharedStore<Credential>.Look, from known: Known) -> Coordinator.Adoption? {
        switch (known.record, look.stored) {
        // The first look must tell that nobody is signed in: a user who appears later, in whichever process, is a new
        // one.
        case (nil, nil) where known.isKnown: nil
        case (_, nil): look.hasExpired ? .expired(expiry) : .signedOut
        case (let known?, let stored?) where known.session == stored.session:
            known.credential == stored.credential ? nil : .refreshed(stored.credential)
        // Another session may be another user's: calls of the one before must not go out with its credential.
        case (_, let stored?): .signedIn(stored.credential)
        }
    }

    /// The failure of calls when the server has ended the session in another process.
    private var expiry: TerminalRefreshFailure {
        state.withLock { $0.failure }
            ?? TerminalRefreshFailure(
                "another process has learnt that the session is over",
                underlying: SessionError(.expired)
            )
    }

    /// The state that a look at the store is compared with.
    struct Known: Equatable {
        let isKnown: Bool
        let version: CredentialVersion?
        let record: Record?
        let unsaved: Unsaved?

        init(_ state: State) {
            (isKnown, version, record, unsaved) = (state.isKnown, state.version, state.record, state.unsaved)
        }
    }
}
