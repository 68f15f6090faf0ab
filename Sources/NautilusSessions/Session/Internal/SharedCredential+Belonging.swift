import Foundation
import Nautilus

/// The session that a call belongs to: the one that was stored when the call began.
extension SharedCredential {
    /// A moment, with what this process can tell of the store's content then.
    struct Moment: Sendable {
        /// Whether anything had been known of the store by then.
        let wasKnown: Bool
        /// The session that was stored then; nil when the store cannot answer at once.
        let session: UUID??
        /// Whether the store had what is known here, so that no look is needed.
        let isUpToDate: Bool
        fileprivate let watch: Stopwatch
    }

    /// The present moment.
    func moment() -> Moment {
        let (known, wasKnown) = state.withLock { (Baseline($0), $0.wasKnown) }
        let isUpToDate =
            store.promptVersion().map {
                known.isKnown && known.unsaved == nil && $0 == known.version && isPublished(known.record)
            } ?? false
        return Moment(
            wasKnown: wasKnown,
            session: isUpToDate ? nil : promptSession(),
            isUpToDate: isUpToDate,
            watch: Stopwatch(store.clock)
        )
    }

    /// The longest look that still tells what was stored when it began, for a store that cannot answer at once: a
    /// slower look may show a user who has signed in since.
    private static var lookLimit: Duration { .milliseconds(250) }

    /// The session with which a call that began at a given moment goes on, now that the store has been looked at.
    enum Belonging: Equatable {
        /// The session that was found, which had begun before the call.
        case found(Coordinator.Session)
        /// The session that this process knew, even if it is over by now.
        case known
        /// Nothing: this process knew of nobody, and somebody has signed in or out since.
        case superseded
    }

    /// The session of a call that began at `moment`.
    func belonging(since moment: Moment, _ present: () -> Coordinator.Session) -> Belonging {
        let (session, found) = turn.take { (present(), state.withLock { $0.record?.session }) }
        guard let before = moment.session else {
            // The first look must find who is signed in, however slow the store is.
            return !moment.wasKnown || moment.watch.elapsed <= Self.lookLimit ? .found(session) : .known
        }
        // A renewal by another process changes the record, but not its session.
        if before == found { return .found(session) }
        if moment.wasKnown { return .known }
        // If nobody is signed in, the call has to be told why.
        return found == nil ? .found(session) : .superseded
    }
}
