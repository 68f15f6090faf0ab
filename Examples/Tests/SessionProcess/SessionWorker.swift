import Foundation
import Nautilus
import NautilusOAuth
import SessionCommands
import SystemFaults

/// The session, and what goes wrong around it.
struct SessionWorker {
    private let session: OAuthSession
    private let store: FileStore
    private let wire = Wire()
    private let origin: String
    /// The path of the store's folder.
    let folder: String
    /// The lock that ``SessionCommand/holdLock`` has taken: held for as long as it is here.
    private var lock: (any CredentialLock)?

    init(_ settings: SessionSettings) {
        origin = settings.origin
        folder = settings.folder
        store = FileStore(folder: URL(fileURLWithPath: folder))
        session = OAuthSession(settings, store: store, transport: WatchedTransport(.refresh, wire: wire))
    }

    /// The session's events from now on.
    var events: SessionEvents { SessionEvents(session) }

    mutating func carryOut(_ command: SessionCommand, events: inout SessionEvents) async -> SessionOutcome {
        var outcome = SessionOutcome()
        do {
            switch command {
            case .call:
                let transport = WatchedTransport(.call, wire: wire)
                try await ReadNotes().schedule(with: Notes(session: session, origin: origin, transport: transport))
            case .credential: _ = try await session.credential()
            case .signIn(let tokens): try await session.signIn(OAuthCredential(tokens))
            case .signOut: try await session.signOut()
            case .flush: try await session.flush()
            case .holdLock:
                lock = try await store.lock(session.key)
                if lock == nil { outcome.failure = ["lockIsHeld"] }
            case .startChild: outcome.child = try startChild()
            case .awaitEvent(let name): outcome.events = await events.next(upTo: name)
            case .plan(let fault):
                if let kill = WireKill(fault) { await wire.plan(kill) } else { try planSystemFault(fault) }
            case .mend: system_faults_clear()
            case .watch: try watchCalls()
            case .tellCalls: outcome.calls = notedCalls
            }
        } catch {
            outcome.failure = ErrorKinds(error).names
        }
        outcome.sent = await wire.takeSent()
        return outcome
    }
}
