import Foundation
import Nautilus

/// The session of a call: the one that is stored when the call is bound, where the store can answer at once.
extension SharedCredential {
    /// A session that another process has begun, or the time since another process has signed the user out, before this
    /// process has followed.
    struct Ahead: Sendable {
        /// The stored session; nil when nobody is signed in.
        let id: UUID?
        let session: CallSession
    }

    /// Whether the store has what is known here, so that no look is needed; false where it cannot answer at once.
    var isUpToDate: Bool {
        let known = state.withLock { Baseline($0) }
        guard known.isKnown, known.unsaved == nil, isPublished(known.record) else { return false }
        return store.promptVersion().map { $0 == known.version } ?? false
    }

    /// The session of a call that begins now.
    func session(_ coordinator: Coordinator) -> CallSession {
        if isUpToDate { return coordinator.session }
        guard let stored = promptSession() else {
            // So that a call which needs no credential, as it is answered by a cache, does not go on as who has left.
            lookForChanges()
            return coordinator.session
        }
        return changes.withLock {
            let (known, isChanging, ahead) = state.withLock { (Baseline($0), $0.isChanging, $0.ahead) }
            // Unsaved changes are newer than the store.
            let isFollowed = known.unsaved != nil || (known.isKnown && known.record?.session == stored)
            if isFollowed || isChanging { return coordinator.session }
            if let ahead, ahead.id == stored { return ahead.session }
            let next = Ahead(id: stored, session: coordinator.newSession())
            state.withLock { $0.ahead = next }
            ahead?.session.finish(stored == nil ? .signedOut : .superseded)
            return next.session
        }
    }

    /// Forgets what calls were bound to before a change was followed, and ends it if the change has begun another one.
    func drop(_ ahead: Ahead?, asIn look: SharedStore<Credential>.Snapshot) {
        guard let ahead else { return }
        let coordinator = state.withLock { state in
            if state.ahead?.session === ahead.session { state.ahead = nil }
            return state.coordinator
        }
        guard ahead.session !== coordinator?.session else { return }
        let end: RefreshError = look.hasExpired ? .sessionExpired(underlying: expiry) : .signedOut
        ahead.session.finish(look.stored == nil ? end : .superseded)
    }

    /// Forgets what calls were bound to, since a sign-in or a sign-out here comes before the change could be followed.
    ///
    /// - Parameter isMeant: Whether the stored session, nil for nobody's, ends by it.
    func endAhead(_ end: RefreshError, where isMeant: (UUID?) -> Bool) {
        guard let ahead = state.withLock({ $0.ahead }) else { return }
        if isMeant(ahead.id) { ahead.session.finish(end) } else if ahead.id != nil { return }
        state.withLock { $0.ahead = nil }
    }
}
