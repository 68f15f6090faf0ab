import Foundation
import Nautilus

/// This process's knowledge of the credential that it shares with others, and the changes that it has yet to store.
///
/// Three places hold the credential: the coordinator, which hands it to calls, the store, which other processes see,
/// and the record here, which says how the two compare. The rules between them:
/// - What is refreshed is saved before it is published. So whatever the coordinator holds, the store has, or has had;
///   unless it could not be saved, and then ``State/unsaved`` says so and memory wins until it is.
/// - What the store says is followed only if nothing has happened in the coordinator since before the look (its epoch).
///   So nothing older than what is here is ever adopted.
/// - Saving and deleting need the store's lock; looking does not.
final class SharedCredential<Credential: Codable & Sendable & Equatable>: Sendable {
    typealias Coordinator = RefreshCoordinator<Credential>
    typealias Record = SessionRecord<Credential>

    /// A change that the store does not have yet.
    enum Unsaved: Equatable, Sendable {
        /// A sign-in.
        case signIn(Record)
        /// The result of a renewal. The store is wrong about its credential: the lock is kept, so that no process
        /// spends it.
        case renewal(Record)
        /// The end of this session; nil for whichever is stored, where it has not been read yet.
        case signOut(session: UUID?)
    }

    struct State {
        weak var coordinator: Coordinator?
        /// Whether the store has been looked at, or overruled.
        var isKnown = false
        /// The version of the store's record that is known.
        var version: CredentialVersion?
        /// The record that this process goes by; nil when nobody is signed in.
        var record: Record? {
            didSet {
                if record != nil { failure = nil }
                guard let before = oldValue?.session, before != record?.session else { return }
                ended.append(before)
            }
        }
        /// The failure that ended the last session here; nil when none did, or only another process knows.
        var failure: TerminalRefreshFailure?
        /// The sessions whose end has not been reported yet.
        var ended: [UUID] = []
        /// Whether the record and the coordinator are changing, so that they may be of two sessions.
        var isChanging = false
        /// Whether the last change has left them so, until the next look at the store.
        var isTorn = false
        var unsaved: Unsaved?
        /// The sessions whose place an unsaved sign-in takes: they may still be stored, and must not come back when it
        /// ends.
        var overruled: Set<UUID> = []
        /// The largest number of a session that this process has heard of.
        var lastNumber = 0
        /// Whether the last sign-in is numbered after what was stored at that time; it has to be read for that.
        var isNumbered = false
        /// The session whose credential the server has been asked to forget last; nil for none.
        var revokedSession: UUID?
        /// The store's lock, kept while a renewal is unsaved and not being saved.
        var keptLock: (any CredentialLock)?
        var isFailing = false
        var isTryingAgain = false
    }

    let store: SharedStore<Credential>
    let rules: SessionRules<Credential>
    let state = Locked(State())
    /// Held while the state and the coordinator change together. The coordinator tells its listeners meanwhile, so
    /// nothing that they may call takes it without a suspension.
    let turn = Locked(())
    private let report: @Sendable (SessionEvent) -> Void
    private let reportEnd: @Sendable (UUID) -> Void

    init(
        store: SharedStore<Credential>,
        rules: SessionRules<Credential>,
        report: @escaping @Sendable (SessionEvent) -> Void,
        reportEnd: @escaping @Sendable (UUID) -> Void
    ) {
        self.store = store
        self.rules = rules
        self.report = report
        self.reportEnd = reportEnd
    }

    /// Names the coordinator, once, before anything else is asked.
    func attach(_ coordinator: Coordinator) {
        state.withLock { $0.coordinator = coordinator }
    }

    /// The session that calls which begin now belong to; nil when nobody is known to be signed in, and while that
    /// changes.
    var id: UUID? {
        state.withLock { $0.isChanging ? nil : $0.record?.session }
    }

    /// Reports the sessions that have ended since the last report.
    func tellEnds() {
        let ended = state.withLock { state in
            defer { state.ended = [] }
            return state.ended
        }
        for session in ended { reportEnd(session) }
    }

    /// Tells once that the store fails, and once that it works again.
    func storeFailed(_ error: SessionError) {
        let isNews = state.withLock { state in
            defer { state.isFailing = true }
            return !state.isFailing
        }
        if isNews { report(.storeFailed(error)) }
    }

    func storeWorked() {
        let isNews = state.withLock { state in
            guard state.isFailing, state.unsaved == nil else { return false }
            state.isFailing = false
            return true
        }
        if isNews { report(.storeRecovered) }
    }
}
