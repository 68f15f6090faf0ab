import Foundation
import Nautilus

/// Saves a sign-in, which may replace a session that it has to find first.
extension SharedCredential {
    /// Saves a sign-in with the lock held, unless another process has signed in since; that sign-in is followed
    /// instead.
    func saveSignIn(_ session: UUID, under lock: any CredentialLock) async throws(SessionError) {
        let found = try await findReplaced(by: session)
        await noteUnsaved(session, found)
        let (epoch, known) = present()
        // If somebody has signed in or out here meanwhile, that is written next.
        guard case .signIn(let record) = known.unsaved, record.session == session else { return }
        // Its save has failed, or was given up, and the record is there all the same.
        if case .session(session, let glance?) = found {
            noteStored(session, refreshCount: glance.stored?.refreshCount ?? 0, isDurable: false)
            if case .refresh = state.withLock({ $0.unsaved }) { return try await saveRefresh(under: lock) }
            return try await saveAgain(under: lock)
        }
        // One that the sign-in did not find when it looked was saved first.
        if case .session(let other, let glance) = found, other != session, !isOverruled(other) {
            // Even if it cannot be decoded here.
            let look = try glance?.look(endingOf: session) ?? SharedStore.Snapshot(isOfAnother: true)
            _ = follow(look, from: known, since: epoch)
            return
        }
        do throws(SessionError) {
            try await save(record, under: lock)
        } catch {
            // Otherwise the next launch would restore the previous user. On a full disk there is room for nothing else,
            // not even for the note of an end.
            if isKnownUnsaved(session, after: error), isRemovedUnsaved(found, by: session),
                (try? await store.delete(under: lock)) != nil
            {
                // A session that is found from now on has been stored since.
                number(session, after: nil)
            }
            throw error
        }
    }

    /// Notes that a sign-in which might have been stored is not. The lock has been held since its save, so that either
    /// its record or the note of its end would be there.
    private func noteUnsaved(_ session: UUID, _ found: Replaced) async {
        guard found.isKnown, state.withLock({ $0.mayBeStored == session }) else { return }
        guard await store.isKnownEnded(session) == false else { return }
        state.withLock { if $0.mayBeStored == session { $0.mayBeStored = nil } }
    }

    /// The content of the store that a sign-in finds, with the lock held.
    private enum Replaced {
        case nothing
        /// The record of a session; no glance at one that is encrypted with another key.
        case session(UUID, SharedStore<Credential>.Glance?)
        /// A record that cannot be read here.
        case unreadable
        /// A record that is neither replaced nor removed.
        case leftAlone

        /// Whether it is known which session is stored.
        var isKnown: Bool {
            switch self {
            case .nothing, .session: true
            case .unreadable, .leftAlone: false
            }
        }
    }

    /// - Throws: The error of a look that may succeed later, if it is known already whom the sign-in replaces: by now
    ///   somebody else may be stored.
    private func findReplaced(by session: UUID) async throws(SessionError) -> Replaced {
        do throws(SessionError) {
            let glance = try await store.glance()
            if number(session, after: glance.stored) { revokeReplaced(glance.stored, by: session) }
            return glance.stored.map { .session($0.session, glance) } ?? .nothing
        } catch {
            if error.isLeftAlone { return .leftAlone }
            guard state.withLock({ $0.isNumbered }), !error.isDamage else { return .unreadable }
            guard case .store(.sealedOtherwise(_, let session)) = error.kind else { throw error }
            return session.map { .session($0, nil) } ?? .unreadable
        }
    }

    /// Whether a sign-in is certainly not stored, now that its save has failed.
    private func isKnownUnsaved(_ session: UUID, after error: SessionError) -> Bool {
        // A save that was given up may still happen.
        if case .storeTimeout = error.kind { return false }
        return state.withLock { state in
            guard case .signIn(let record) = state.unsaved, record.session == session else { return false }
            return state.mayBeStored != session
        }
    }

    /// Whether a record is removed in whose place a sign-in could not be saved.
    private func isRemovedUnsaved(_ found: Replaced, by session: UUID) -> Bool {
        switch found {
        case .session(let other, _): other != session
        // Only once, since another user may sign in later.
        case .unreadable:
            state.withLock { state in
                defer { state.hasReplacedUnread = session }
                return state.hasReplacedUnread != session
            }
        case .nothing, .leftAlone: false
        }
    }
}
