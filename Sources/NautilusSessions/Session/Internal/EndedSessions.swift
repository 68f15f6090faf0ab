import Foundation
import Nautilus

/// The sessions that have ended by a sign-out or a sign-in in this process, whichever of its session objects that was:
/// a store that refused to note the end still shows them, and the next object must not go on with one.
final class EndedSessions: Sendable {
    static let ofProcess = OnePerProcess { EndedSessions() }

    /// More than a process ends while a store fails; beyond that, the older half is forgotten.
    private static let maxCount = 10_000

    private let sessions = Locked<(recent: Set<UUID>, older: Set<UUID>)>(([], []))

    func insert(_ session: UUID) {
        sessions.withLock { sessions in
            if sessions.recent.count >= Self.maxCount / 2 { sessions = ([], sessions.recent) }
            sessions.recent.insert(session)
        }
    }

    func contains(_ session: UUID) -> Bool {
        sessions.withLock { $0.recent.contains(session) || $0.older.contains(session) }
    }
}
