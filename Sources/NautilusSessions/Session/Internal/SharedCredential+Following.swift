import Foundation
import Nautilus

extension SharedCredential {
    /// Adopts what other processes have done to the store, if anything.
    ///
    /// - Throws: ``SessionError`` when the store cannot be read and nothing is known yet; after that, memory is relied
    ///   on.
    func catchUp() async throws(SessionError) {
        while true {
            // Taken before the look, so that nothing older than the present state is adopted.
            let (epoch, known) = present()
            // Unsaved changes are newer than the store.
            guard known.unsaved == nil else {
                if case .signIn(let record) = known.unsaved {
                    let session = record.session
                    guard state.withLock({ $0.isOver(session) }) || store.isEndedPromptly(session) else {
                        return lookInBackground(checking) { await $0.checkStanding(ofUnsaved: session) }
                    }
                    guard endUnsaved(record, known, since: epoch) else { continue }
                    return
                }
                // A sign-out whose record waits for its removal keeps nobody from signing in elsewhere.
                if isNotedForAll, let look = try? await look(), look.stored != nil {
                    guard follow(look, from: known, since: epoch) else { continue }
                    return storeWorked()
                }
                await adoptEndWhileUnsaved()
                return
            }
            let interruptions = store.interruptions
            // Another session object of this process may have ended the session, which the store need not show.
            let isOver = known.record.map { record in state.withLock { $0.isOver(record.session) } } ?? false
            do throws(SessionError) {
                let version = try await store.version()
                let isFollowed = known.isKnown && version == known.version && state.withLock { $0.ahead } == nil
                guard !isFollowed || isOver || !isPublished(known.record) else {
                    return storeWorked()
                }
                let look = try await look(endingOf: known.record?.session)
                if follow(look, from: known, since: epoch) { return storeWorked() }
            } catch {
                // A sign-in or a sign-out here has ended the look.
                if !Task.isCancelled, store.interruptions != interruptions { continue }
                if isOver {
                    if follow(SharedStore.Snapshot(version: known.version), from: known, since: epoch) { return }
                    continue
                }
                // Where nothing is stored, nobody is signed in, whatever keeps a record from being read, such as a
                // folder that has become open to others.
                if known.record != nil, await store.isEmpty() {
                    if follow(SharedStore.Snapshot(), from: known, since: epoch) { return }
                    continue
                }
                guard known.isKnown else { throw error }
                // The caller has left, which says nothing about the store.
                if error.kind == .cancelled { return }
                return storeFailed(error)
            }
        }
    }

    /// Ends a session whose sign-in is still being saved, since it was signed out elsewhere.
    ///
    /// - Returns: False when something has happened here meanwhile.
    private func endUnsaved(_ record: Record, _ known: Baseline, since epoch: Coordinator.Epoch?) -> Bool {
        guard follow(SharedStore.Snapshot(version: .unseen), from: known, since: epoch) else { return false }
        if record.refreshCount > 0 { revokeUnlessReplaced(record) }
        return true
    }

    /// Finds out whether a sign-in is stored, and whether other processes have ended it, although its save has not
    /// returned, or has failed.
    private func checkStanding(ofUnsaved session: UUID) async {
        let showsReplaced = showsReplaced
        if await store.isEnded(session) {
            let (epoch, known) = present()
            guard case .signIn(let record) = known.unsaved, record.session == session else { return }
            _ = endUnsaved(record, known, since: epoch)
        } else if let glance = try? await store.glance() {
            // A sign-in elsewhere comes later from here on.
            if showsReplaced, number(session, after: glance.stored) { revokeReplaced(glance.stored, by: session) }
            guard let stored = glance.stored, stored.session == session else { return }
            noteStored(session, refreshCount: stored.refreshCount, isDurable: false)
            tryAgain()
        }
    }

    /// Looks at the store. If the store is stale, such as a database with slow replicas or a file that was put back,
    /// the known record takes the place of the stored one: an older credential of the same session is spent, and a user
    /// who has signed out here is signed out there once more.
    func look(endingOf session: UUID? = nil) async throws(SessionError) -> SharedStore<Credential>.Snapshot {
        var look = try await store.look(endingOf: session)
        guard let decoded = look.stored else { return look }
        let (stored, isBehind, isOver, record) = state.withLock { state in
            let record = state.record.flatMap { state.isOver($0.session) ? nil : $0 }
            // Decoding the same bytes again must not look like a refresh.
            let stored = state.record.map(decoded.keepingCredential(of:)) ?? decoded
            return (stored, state.isBehind(stored), state.isOver(stored.session), record)
        }
        look.stored = stored
        guard isBehind else { return look }
        if isOver { BackgroundTask.start { [store] in _ = try? await store.end(stored.session) } }
        (look.stored, look.isBehind) = (record, true)
        return look
    }

    /// Catches up in the background, at most once a second; called when something comes over an open connection.
    func lookForChanges() {
        // A failure of the store is reported to the next call that asks for a credential.
        lookInBackground(looking) { _ = try? await $0.catchUp() }
    }

    /// Looks in the background, at most once a second.
    private func lookInBackground(
        _ looking: Locked<BackgroundLooks>,
        _ look: @escaping @Sendable (SharedCredential) async -> Void
    ) {
        let now = watch.elapsed
        let isDue = looking.withLock { looking in
            guard !looking.isUnderWay, looking.latest.map({ now - $0 >= .seconds(1) }) ?? true else { return false }
            looking = BackgroundLooks(isUnderWay: true, latest: now)
            return true
        }
        guard isDue else { return }
        BackgroundTask.start { [self] in
            await look(self)
            looking.withLock { $0.isUnderWay = false }
        }
    }

    /// Adopts what other processes have done to a session whose refreshed credential is still unsaved. The session's
    /// record in the store is older, but another process may sign out, which needs no lock, and may refresh if this
    /// process has lost the lock.
    ///
    /// - Returns: The failure when the store could not be read, and nothing was learned; nil when there was none.
    @discardableResult
    func adoptEndWhileUnsaved() async -> SessionError? {
        while true {
            let (epoch, known) = present()
            guard case .refresh(let record) = known.unsaved else { return nil }
            let look: SharedStore<Credential>.Snapshot
            do throws(SessionError) {
                look = try await self.look(endingOf: record.session)
            } catch {
                return error
            }
            guard look.version != known.version else {
                state.withLock { $0.hasLostLock = false }
                return nil
            }
            // The store still has the record that this refresh started from.
            if look.isBehind, look.stored == record {
                state.withLock { state in
                    if Baseline(state) == known { (state.version, state.hasLostLock) = (look.version, false) }
                }
                return nil
            }
            guard follow(look, from: known, since: epoch) else { continue }
            revokeLate(record, endedAsIn: look)
            return nil
        }
    }

    /// Whether the coordinator has the record's credential. It does not when a refresh has found another process's
    /// credential in the store and then failed with it, or when a refresh that the coordinator no longer waits for has
    /// brought one.
    func isPublished(_ record: Record?) -> Bool {
        guard let record, let coordinator = state.withLock({ $0.coordinator }) else { return true }
        // A running refresh tells the coordinator itself.
        guard !coordinator.isRefreshing, let published = coordinator.current else { return true }
        return published.credential == record.credential
    }

    /// The coordinator's epoch, and what is known at that time.
    func present() -> (epoch: Coordinator.Epoch?, known: Baseline) {
        let coordinator = state.withLock { $0.coordinator }
        let epoch = coordinator?.epoch
        return (epoch, state.withLock { Baseline($0) })
    }

    /// Passes the store's content on to the coordinator.
    ///
    /// - Returns: False when something has happened here meanwhile, and the caller has to look again.
    func follow(
        _ look: SharedStore<Credential>.Snapshot,
        from known: Baseline,
        since epoch: Coordinator.Epoch?
    ) -> Bool {
        defer { tellEnds() }
        // A late write of another process has taken back what is known here, unless the store is merely behind.
        let isOvertaken = look.isBehind && look.stored != nil && look.stored == known.record && store.showsLatest
        let isFollowed = changes.withLock { () -> Bool in
            // The present state may be newer than the look.
            guard state.withLock({ Baseline($0) == known }) else { return false }
            let change = epoch == nil ? nil : change(of: look, from: known)
            // Another refresh would bring an expired credential again, since the clock here is as wrong as it was
            // there.
            if let stored = look.stored, stored.cameExpired { cameExpired.withLock { $0 = stored.credential } }
            let (changes, ahead) = state.withLock { ($0.changes, $0.ahead) }
            if let change, let epoch {
                let coordinator = state.withLock { state in
                    state.isChanging = true
                    return state.coordinator
                }
                let next = ahead?.id == look.stored?.session ? ahead?.session : nil
                guard coordinator?.adopt(change, since: epoch, beginning: next) ?? true else {
                    state.withLock { $0.isChanging = false }
                    return false
                }
            }
            let isFollowed = state.withLock { state in
                // A refresh that has changed the state since the coordinator went on belongs to the session before.
                guard change != nil || Baseline(state) == known else { return false }
                // An observer that was told of the change has signed the user out.
                guard state.changes == changes else {
                    state.isChanging = false
                    return true
                }
                state.noteEnd(of: known.record, followedBy: look.stored, hasExpired: look.hasExpired)
                // If the record cannot be decoded, the next look says so.
                (state.isKnown, state.record, state.version) = (!look.isOfAnother, look.stored, look.version)
                state.lastNumber = max(state.lastNumber, look.stored?.number ?? 0)
                (state.unsaved, state.overruled, state.hasLostLock) = (nil, [], false)
                if isOvertaken, let record = look.stored {
                    (state.unsaved, state.hasLostLock) = (.refresh(record), true)
                }
                state.isChanging = false
                return true
            }
            if isFollowed { drop(ahead, asIn: look) }
            return isFollowed
        }
        if isFollowed, isOvertaken { tryAgain() }
        // The lock was kept for an unsaved refresh that no longer matters.
        if isFollowed, let lock = takeKeptLock() { store.unlock(lock) }
        if isFollowed, look.isSignOut { revokeSpared() }
        // A record that is stored but not shown is left from a sign-out that did not get to its removal, and may never
        // do so.
        if isFollowed, look.isSignOut, look.version != nil { removeRemains() }
        return isFollowed
    }

    /// The change from one record to the next, for the coordinator; nil when it does not matter to calls.
    private func change(
        of look: SharedStore<Credential>.Snapshot,
        from known: Baseline
    ) -> SessionChange<Credential>? {
        switch (known.record, look.stored) {
        // The first look must report that nobody is signed in: a user who appears later, in whichever process, is then
        // a new one.
        case (nil, nil) where known.isKnown: nil
        case (_, nil): look.hasExpired ? .expired(expiry) : .signedOut
        case (let known?, let stored?) where known.session == stored.session:
            known.credential == stored.credential && isPublished(stored) ? nil : .refreshed(stored.credential)
        // Another session may be another user's: calls of the session before must not go out with its credential.
        case (_, let stored?): .signedIn(stored.credential)
        }
    }

    /// The failure that calls get when the server has ended the session in another process.
    var expiry: RefreshError.Terminal {
        state.withLock { $0.failure }
            ?? RefreshError.Terminal(
                "another process has learnt that the session is over",
                underlying: SessionError(.expired)
            )
    }

    /// The state that a look at the store is compared with.
    struct Baseline: Equatable {
        let isKnown: Bool
        let version: CredentialVersion?
        let record: Record?
        let unsaved: Unsaved?

        init(_ state: State) {
            (isKnown, version, record, unsaved) = (state.isKnown, state.version, state.record, state.unsaved)
        }
    }
}
