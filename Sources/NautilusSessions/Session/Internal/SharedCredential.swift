import Foundation
import Nautilus

/// This process's knowledge of the credential that it shares with others, and the changes that it has yet to store.
///
/// Three places hold the credential: the coordinator, which hands it to calls; the store, which other processes see;
/// and the record here, which says how the two compare. The rules between them:
/// - A refreshed credential is saved before it is published. So the store has, or has had, whatever the coordinator
///   holds. If saving failed, ``State/unsaved`` says so, and memory wins until it succeeds.
/// - The content of the store is followed only if nothing has happened in the coordinator since before the look (its
///   epoch). So nothing older than the present state is ever adopted.
/// - Saving and deleting need the store's lock; looking, and noting that a session has ended, do not.
final class SharedCredential<Credential: Codable & Sendable & Equatable>: Sendable {
    // Words that the files of this type share: a session is *over* when it has ended anywhere, which `SharedStore.end`
    // notes beside the record for the other processes (a tombstone). This process's state *overrules* the store while
    // a change is *unsaved*. A record is *behind* when it has fewer refreshes than the one here, as in a store that
    // shows what it had before. A *glance* is the store's content as it is; a *look* decodes it.

    typealias Coordinator = RefreshCoordinator<Credential>
    typealias Record = SessionRecord<Credential>

    /// A change that the store does not have yet.
    enum Unsaved: Equatable, Sendable {
        /// A sign-in.
        case signIn(Record)
        /// The result of a refresh. The store may still have a credential from before it, which is out of date: the
        /// lock is kept, so that no process spends that credential.
        case refresh(Record)
        /// The end of a session by a sign-out.
        case signOut(SignOutTarget)
        /// The end of a session by the server, with the record that it has refused to refresh.
        case expiry(Record)
    }

    /// The session that a sign-out is meant for.
    enum SignOutTarget: Equatable, Sendable {
        /// This session.
        case session(UUID)
        /// Whichever session is stored, while the store has not been read yet, or may be stale.
        case stored
        /// A damaged record, unless another one has taken its place since.
        case damaged
        /// No session: what an ended session left behind is removed; anyone who signs in meanwhile stays signed in.
        case nobody

        /// The session that is meant; nil when there is none, or it is not known.
        var session: UUID? {
            if case .session(let session) = self { session } else { nil }
        }
    }

    struct State {
        weak var coordinator: Coordinator?
        /// Whether the content of the store is known, or is overruled.
        var isKnown = false {
            didSet { if isKnown { wasKnown = true } }
        }
        /// Whether ``isKnown`` was ever true.
        private(set) var wasKnown = false
        /// The version of the store's record as last seen.
        var version: CredentialVersion?
        /// The record that this process goes by; nil when nobody is signed in.
        var record: Record? {
            didSet {
                if let record { (failure, lastSession) = (nil, record.session) }
                guard let before = oldValue?.session, before != record?.session else { return }
                ended.append(before)
                undurable = nil
            }
        }
        /// The last session that this process went by, for a sign-out that comes after its end; nil when there was
        /// none.
        var lastSession: UUID?
        /// The failure that ended the last session here; nil when none did, or only another process knows it.
        var failure: RefreshError.Terminal?
        /// The sessions whose end has not been reported yet.
        var ended: [UUID] = []
        /// Whether the record and the coordinator are changing, and may therefore belong to two sessions.
        var isChanging = false
        /// The session that calls have been bound to before it is followed; nil for none.
        var ahead: Ahead?
        /// Counts the sign-ins and sign-outs of this process.
        var changes = 0
        /// Numbers the sign-ins and sign-outs of this process in the order in which they begin.
        var lastBegun = 0
        /// The number of the latest sign-in or sign-out that took effect.
        var latest = 0
        var unsaved: Unsaved?
        /// The sessions that an unsaved sign-in replaces. They may still be stored, and must not come back when the
        /// sign-in's session ends.
        var overruled: Set<UUID> = []
        /// The sessions that have ended in this process, each with the number of refreshes that it had then: a stale
        /// store may show them once more.
        var over: [UUID: Int] = [:]
        /// The sessions that have ended in this process, whichever object ended them.
        let endedHere = EndedSessions.ofProcess.value
        /// The largest number of a stored session that this process has heard of.
        var lastNumber = 0
        /// When the last sign-in or sign-out of this process was, on the watch.
        var changed = Duration.zero
        /// Whether it was not known at the last sign-in whom it replaces.
        var replacesUnknown = false
        /// Whether the last sign-in is already numbered after the session that it replaces; the store has to be read
        /// for that, with the lock held if it may be stale.
        var isNumbered = false
        /// The last session that could not be saved, and for which a record that cannot be read was removed; nil for
        /// none.
        var hasReplacedUnread: UUID?
        /// The session of a sign-in that is stored, but whose save has failed, so that it might not survive a power
        /// failure: it is saved once more. Nil for none.
        var undurable: UUID?
        /// The session of a sign-in whose save has failed, if its record may be there all the same; nil for none. The
        /// lock is kept, so that a sign-out elsewhere leaves a note.
        var mayBeStored: UUID?
        /// The sessions whose credential the server was asked to forget, each with the number of refreshes that it had
        /// then: another process may have refreshed it since.
        var forgotten: [UUID: Int] = [:]
        /// The session of the last sign-in, if the server is to forget the credential of the session that it replaces.
        var revokesReplaced: UUID?
        /// Whether the server is to forget the credential of a session that a sign-in has not found yet: that sign-in,
        /// and all since, have asked for it.
        var revokesUnknown = false
        /// The sessions whose credential the server has been asked to forget, as long as a refresh runs that may be of
        /// one of them.
        var revokedSessions: Set<UUID> = []
        /// The sessions whose late credential the server is being asked to forget, for as long, each with the number of
        /// refreshes that it had then.
        var lateSessions: [UUID: Int] = [:]
        /// Credentials that came too late to be taken, while somebody else was signed in: the next sign-out has the
        /// server forget them.
        var spared: [Credential] = []
        /// The sessions whose end the store has noted since the last sign-out of this process.
        var noted: Set<UUID> = []
        /// Counts the sign-ins that did not revoke the credential of the session before.
        var sparingSignIns = 0
        /// The session that the last sign-in of this object has begun; nil when there was none.
        var begunHere: UUID?
        /// How many refreshes are running, including those whose session is over.
        var refreshes = 0 {
            didSet { if refreshes == 0 { (revokedSessions, lateSessions) = ([], [:]) } }
        }
        /// The store's lock, kept as long as it is needed and nothing is being saved.
        var keptLock: (any CredentialLock)?
        /// Whether the lock was lost while a refresh was unsaved: since then, another process may have refreshed as
        /// well, or have ended the session and removed every trace of it.
        var hasLostLock = false
        var isTryingAgain = false
        /// The removal of the remains of a sign-out that was killed; nil while none was begun.
        var removal: Task<Void, Never>?

        /// Whether the store has everything, and will keep it.
        var isSaved: Bool { unsaved == nil && undurable == nil }

        /// Whether no other process may write now: a refresh is unsaved, it is not known whether a sign-in is stored,
        /// or a sign-out is meant for whoever is stored, and not for a later user.
        var needsLock: Bool {
            switch unsaved {
            case .refresh: true
            case .signIn(let record): mayBeStored == record.session
            case .signOut(let target): target == .stored
            case .expiry, nil: false
            }
        }

        /// Gives a number to a sign-in or a sign-out that begins.
        mutating func begin() -> Int {
            lastBegun += 1
            return lastBegun
        }

        /// Notes that a session has ended here, however often refreshed a store may still show it.
        mutating func noteEnd(of session: UUID?) {
            guard let session else { return }
            over[session] = .max
            endedHere.insert(session)
        }

        /// Notes that a session has ended elsewhere: replaced by a later sign-in, or ended by the server. An empty
        /// store is not taken for an end, since one that is lost for a while would then sign the user out.
        mutating func noteEnd(of record: Record?, followedBy next: Record?, hasExpired: Bool) {
            guard let record, next?.session != record.session else { return }
            guard hasExpired || next.map({ $0.number > record.number }) ?? false else { return }
            over[record.session] = max(over[record.session] ?? 0, record.refreshCount)
        }

        /// Whether the last sign-in or sign-out is so long ago that any look at the store, even a stale one,
        /// shows what was stored then or later.
        func isSettled(at now: Duration) -> Bool { now - changed > .seconds(60) }

        /// Whether a sign-in has not found out yet whom it replaces.
        var hasUnknown: Bool {
            if case .signIn = unsaved { !isNumbered } else { false }
        }

        /// Whether a stored session that is replaced, or its credential, was not known until now.
        mutating func isNews(_ stored: StoredCredential) -> Bool { findsForgotten(stored) || !isOver(stored.session) }

        /// Notes that a stored credential is found, of a session whose credential the server was asked to forget.
        ///
        /// - Returns: Whether it is a later one, found for the first time, which the server has to forget as well.
        mutating func findsForgotten(_ stored: StoredCredential) -> Bool {
            guard let refreshCount = forgotten[stored.session], refreshCount < stored.refreshCount else { return false }
            forgotten[stored.session] = stored.refreshCount
            return true
        }

        /// Whether a session has ended here, by a sign-out or a sign-in.
        func isOver(_ session: UUID) -> Bool {
            over[session] == .max || endedHere.contains(session)
        }

        /// Whether a record is older than what this process knows of its session.
        func isBehind(_ stored: Record) -> Bool {
            if isOver(stored.session) { return true }
            if let last = over[stored.session], stored.refreshCount <= last { return true }
            return record.map { $0.session == stored.session && stored.refreshCount < $0.refreshCount } ?? false
        }
    }

    /// Looks in the background, of which there is at most one a second.
    struct BackgroundLooks {
        var isUnderWay = false
        var latest: Duration?
    }

    let store: SharedStore<Credential>
    let rules: SessionRules<Credential>
    /// The longest that a refresh runs before it is cancelled, whatever it has sent by then.
    let timeLimit: Duration
    let state = Locked(State())
    /// The latest credential that was already expired when it came, here or in another process; nil when none was.
    let cameExpired = Locked<Credential?>(nil)
    let looking = Locked(BackgroundLooks())
    /// The looks for the end of a sign-in that is still being saved.
    let checking = Locked(BackgroundLooks())
    let watch: Stopwatch
    /// The requests that have outlived their sessions, and the revocations that nobody waits for.
    let background = BackgroundWork()
    /// The revocations that first make sure that nobody has signed in elsewhere.
    let checks = BackgroundWork()
    /// The sign-outs that go on in the background.
    let signOuts = BackgroundWork()
    /// The latest failure of a revocation that nobody waits for, since the last sign-out began.
    let refusal = Locked<SessionError?>(nil)
    /// Held while the state and the coordinator change together.
    let changes = ReentrantLock()
    /// Whether the store was last reported to fail.
    private let isFailing = Locked(false)
    private let report: @Sendable (SessionEvent) -> Void
    private let reportEnd: @Sendable (UUID) -> Void

    init(
        store: SharedStore<Credential>,
        rules: SessionRules<Credential>,
        timeLimit: Duration,
        report: @escaping @Sendable (SessionEvent) -> Void,
        reportEnd: @escaping @Sendable (UUID) -> Void
    ) {
        self.store = store
        self.rules = rules
        self.timeLimit = timeLimit
        self.watch = Stopwatch(store.clock)
        self.report = report
        self.reportEnd = reportEnd
    }

    /// Sets the coordinator, once, before anything else is asked.
    func attach(_ coordinator: Coordinator) {
        state.withLock { $0.coordinator = coordinator }
    }

    /// The session of calls that begin now; nil when nobody is known to be signed in, and while that changes. A store
    /// that answers at once is asked, since another process may have changed it; for any other store, the last known
    /// state counts.
    var id: UUID? {
        let (known, isChanging) = state.withLock { (Baseline($0), $0.isChanging) }
        if isChanging { return nil }
        // Unsaved changes are newer than the store.
        if known.unsaved != nil { return known.record?.session }
        let isOver = known.record.map { record in state.withLock { $0.isOver(record.session) } } ?? false
        guard let version = store.promptVersion() else { return isOver ? nil : known.record?.session }
        if known.isKnown, version == known.version, !isOver { return known.record?.session }
        return promptSession() ?? nil
    }

    /// The session that this process knows to be going on; nil while it knows of none. Does not look at the store.
    var knownId: UUID? { state.withLock { Baseline($0).record?.session } }

    /// The session that is in the store now, unless it has ended here.
    ///
    /// - Returns: Nil when the store cannot answer at once.
    func promptSession() -> UUID?? {
        store.promptSession().map { stored in
            stored.flatMap { session in state.withLock { $0.isOver(session) } ? nil : session }
        }
    }

    /// The rest of a credential's lifetime, as the coordinator applies it; nil for a credential that is used until the
    /// server rejects it.
    func lifetime(of credential: Credential) -> Duration? {
        cameExpired.withLock { $0 == credential } ? nil : rules.lifetime(credential)
    }

    /// Reports the sessions that have ended since the last report.
    func tellEnds() {
        let ended = state.withLock { state in
            defer { state.ended = [] }
            return state.ended
        }
        for session in ended { reportEnd(session) }
    }

    /// Reports once that the store fails.
    func storeFailed(_ error: SessionError) {
        // The caller has left, or a look no longer matters, which says nothing about the store.
        guard error.kind != .cancelled else { return }
        // Both reports are made within, so that they come in order.
        isFailing.withLock { isFailing in
            if !isFailing { report(.storeFailed(error)) }
            isFailing = true
        }
    }

    func storeWorked() {
        isFailing.withLock { isFailing in
            guard isFailing, state.withLock({ $0.isSaved }) else { return }
            isFailing = false
            report(.storeRecovered)
        }
    }
}
