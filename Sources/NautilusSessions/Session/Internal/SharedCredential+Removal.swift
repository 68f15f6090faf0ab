import Foundation
import Nautilus

/// The changes that a sign-out, or the end of a session by the server, makes to the store.
extension SharedCredential {
    /// Replaces the record of a session that the server has ended with one that has no credential, with the lock held,
    /// unless something else has taken its place.
    func expire(_ tried: Record, under lock: any CredentialLock) async throws(SessionError) {
        let glance = try await store.glance()
        let isMeant =
            if let stored = glance.stored {
                // A record that cannot be decoded is a different one, refreshed by another version of the app.
                stored.session == tried.session && tried.hasCredential(of: stored) || isOverruled(stored.session)
            } else {
                // It may have been saved already, and might not last.
                glance.expired == tried.session
            }
        if isMeant { try await store.expire(tried, under: lock) }
        noteStored(.expiry(tried), isKnown: false)
    }

    /// Removes from the store, with the lock held, what a sign-out means, unless something else has taken its place.
    ///
    /// - Throws: ``SessionError``. If the record is to be left alone, nothing is left to do, since such a record never
    ///   changes by itself.
    func remove(_ target: SignOutTarget, under lock: any CredentialLock) async throws(SessionError) {
        let found: Found
        do throws(SessionError) {
            found = try await find(target)
        } catch {
            if error.isLeftAlone { noteStored(.signOut(target), isKnown: false) }
            throw error
        }
        // The sign-out was narrowed meanwhile to whom it had found, or somebody has signed in here.
        guard state.withLock({ $0.unsaved == .signOut(target) }) else {
            if target == .stored, case .signOut(let narrowed) = state.withLock({ $0.unsaved }) {
                try await remove(narrowed, under: lock)
            }
            return
        }
        var meant = target
        if target == .stored {
            meant = found.target
            if case .session(let session, let stored) = found { noteEnd(of: session, stored: stored) }
            // Should the removal fail, it is tried again for what was found now.
            state.withLock { if $0.unsaved == .signOut(target) { $0.unsaved = .signOut(meant) } }
        }
        if found != .another { try await store.delete(under: lock) }
        noteStored(.signOut(meant), isKnown: found != .another)
    }

    /// Removes the record of an ended session whose process did not get to the removal, if the lock is free. Otherwise,
    /// the lock's holder does so, or the next process that looks.
    func removeRemains() {
        let removal = BackgroundTask.start { [store] in
            guard let lock = await store.lockIfFree() else { return }
            if let glance = try? await store.glance(), glance.stored == nil, !glance.hasExpired, glance.version != nil {
                try? await store.delete(under: lock)
            }
            store.unlock(lock)
        }
        state.withLock { $0.removal = removal }
    }

    /// Notes that the end of a session is stored.
    ///
    /// - Parameters:
    ///   - end: The end.
    ///   - isKnown: Whether the store is known to be empty; if not, the next call looks at what is stored.
    private func noteStored(_ end: Unsaved, isKnown: Bool) {
        state.withLock { state in
            guard state.unsaved == end else { return }
            (state.unsaved, state.isKnown, state.version) = (nil, isKnown, nil)
            state.overruled = []
        }
        storeWorked()
    }

    /// The content of the store that a sign-out finds, with the lock held.
    private enum Found: Equatable {
        /// No record, or one of an ended session.
        case nothing
        /// A record that nobody can read.
        case damaged
        /// A record that cannot be read now.
        case unreadable
        /// The record of a session that is meant; nil when only the session of it can be read.
        case session(UUID, StoredCredential?)
        /// The record of a session that is not meant.
        case another

        /// The meaning of a sign-out of the stored session, once this was found.
        var target: SignOutTarget {
            switch self {
            case .nothing: .nobody
            case .session(let session, _): .session(session)
            case .damaged: .damaged
            // It may be readable by the next try.
            case .unreadable, .another: .stored
            }
        }
    }

    private func find(_ target: SignOutTarget) async throws(SessionError) -> Found {
        do throws(SessionError) {
            // A store that shows nothing may still hold the record of an ended session.
            guard let stored = try await store.glance().stored else { return .nothing }
            return isMeant(stored.session, by: target) ? .session(stored.session, stored) : .another
        } catch {
            switch error.kind {
            // A damaged record does not show a session any more.
            case .store(.damaged): return .damaged
            case .store(.sealedOtherwise(_, let session?)):
                return isMeant(session, by: target) ? .session(session, nil) : .another
            // If the session to remove is not known, any session is meant, even one that cannot be read.
            case .store where target == .stored && !error.isLeftAlone: return .unreadable
            // Another process has replaced this session.
            case .store(.sealedOtherwise): return .another
            // Of a folder that is open to others nothing is read, but the end of a session says whether it is there.
            case .store(.notPrivate):
                guard let session = target.session, let stored = try? await store.end(session) else { throw error }
                return .session(session, stored)
            default: throw error
            }
        }
    }

    private func isMeant(_ session: UUID, by target: SignOutTarget) -> Bool {
        target == .stored || target == .session(session) || isOverruled(session)
    }

    /// Ends a session of which this process hears only when it removes its record.
    private func noteEnd(of session: UUID, stored: StoredCredential?) {
        let isNews = state.withLock { state in
            defer { state.noteEnd(of: session) }
            return !state.isOver(session)
        }
        if isNews, let credential = try? stored?.credential(as: Credential.self) { revokeInBackground(credential) }
    }
}
