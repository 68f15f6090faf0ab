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
        /// The result of a renewal. The store may still have one of the credentials that it came of, and is wrong about
        /// that: the lock is kept, so that no process spends it.
        case renewal(Record)
        /// The end of this session; nil for whichever is stored, where it has not been read yet.
        case signOut(session: UUID?)
        /// The server's end of a session, the record that it has refused to renew.
        case expiry(Record)
    }

    struct State {
        weak var coordinator: Coordinator?
        /// Whether it is known what the store has, or that it is overruled.
        var isKnown = false {
            didSet { if isKnown { wasKnown = true } }
        }
        /// Whether that has ever been known.
        private(set) var wasKnown = false
        /// The version of the store's record that is known.
        var version: CredentialVersion?
        /// The record that this process goes by; nil when nobody is signed in.
        var record: Record? {
            didSet {
                if let record { (failure, lastSession) = (nil, record.session) }
                guard let before = oldValue?.session, before != record?.session else { return }
                ended.append(before)
            }
        }
        /// The last session that this process went by, for a sign-out that comes when it is over; nil when there was
        /// none, or the one that has taken its place cannot be decoded here.
        var lastSession: UUID?
        /// The failure that ended the last session here; nil when none did, or only another process knows.
        var failure: TerminalRefreshFailure?
        /// The sessions whose end has not been reported yet.
        var ended: [UUID] = []
        /// Whether the record and the coordinator are changing, so that they may be of two sessions.
        var isChanging = false
        /// Counts the sign-ins and sign-outs of this process.
        var changes = 0
        /// Numbers the sign-ins of this process in the order in which they begin, and the sign-outs among them.
        var lastBegun = 0
        /// The number of the one that holds.
        var latest = 0
        var unsaved: Unsaved?
        /// The sessions whose place an unsaved sign-in takes: they may still be stored, and must not come back when it
        /// ends.
        var overruled: Set<UUID> = []
        /// The sessions that have ended in this process, each up to the renewal that it had then: a store that is behind may
        /// show them once more.
        var over: [UUID: Int] = [:]
        /// The largest number of a session that this process has heard of.
        var lastNumber = 0
        /// Whether the last sign-in is numbered after what was stored at that time; it has to be read for that.
        var isNumbered = false
        /// The sessions whose credential the server has been asked to forget, while a refresh runs that may be of one.
        var revokedSessions: Set<UUID> = []
        /// Counts the sign-ins that have left the credential of the session before alone.
        var sparingSignIns = 0
        /// How many refreshes run, those included whose session is over.
        var refreshes = 0 {
            didSet { if refreshes == 0 { revokedSessions = [] } }
        }
        /// The store's lock, kept while a renewal is unsaved and not being saved.
        var keptLock: (any CredentialLock)?
        /// Whether the lock was lost while a renewal was unsaved: another process may have renewed as well since, or
        /// ended the session and removed every trace of it.
        var hasLostLock = false
        var isFailing = false
        var isTryingAgain = false
        /// The removal of what a sign-out that was killed has left; nil while none was begun.
        var removal: Task<Void, Never>?

        /// Numbers a sign-in or a sign-out that begins.
        mutating func begin() -> Int {
            lastBegun += 1
            return lastBegun
        }

        /// Notes that a session has ended here, whatever renewals of it a store may still show.
        mutating func noteEnd(of session: UUID?) {
            if let session { over[session] = .max }
        }

        /// Notes that a session has ended elsewhere: by the sign-in that has taken its place, or by the server. Not where
        /// nothing is stored: a store that is lost for a while would sign the user out.
        mutating func noteEnd(of record: Record?, followedBy next: Record?, hasExpired: Bool) {
            guard let record, next?.session != record.session else { return }
            guard hasExpired || next.map({ $0.number > record.number }) ?? false else { return }
            over[record.session] = max(over[record.session] ?? 0, record.renewals)
        }

        /// Whether a session has ended here, by a sign-out or a sign-in.
        func isOver(_ session: UUID) -> Bool { over[session] == .max }

        /// Whether a record is older than what this process knows of its session.
        func isBehind(_ stored: Record) -> Bool {
            if let last = over[stored.session], stored.renewals <= last { return true }
            return record.map { $0.session == stored.session && stored.renewals < $0.renewals } ?? false
        }
    }

    let store: SharedStore<Credential>
    let rules: SessionRules<Credential>
    /// The longest that a refresh goes on before it is cancelled, whatever it has sent by then.
    let timeLimit: Duration
    let state = Locked(State())
    /// The latest credential that was over when it came, here or in another process; nil when none was.
    let cameExpired = Locked<Credential?>(nil)
    let looking = Locked<(isUnderWay: Bool, latest: Duration?)>((false, nil))
    let watch: Stopwatch
    /// Held while the state and the coordinator change together.
    let turn = ReentrantLock()
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

    /// Names the coordinator, once, before anything else is asked.
    func attach(_ coordinator: Coordinator) {
        state.withLock { $0.coordinator = coordinator }
    }

    /// The session that calls which begin now belong to; nil when nobody is known to be signed in, and while that
    /// changes. A store that tells it at once is asked, since another process may have changed it; of any other one, what
    /// was last seen counts.
    var id: UUID? {
        let (known, isChanging) = state.withLock { (Baseline($0), $0.isChanging) }
        if isChanging { return nil }
        // Memory is newer than the store.
        if known.unsaved != nil { return known.record?.session }
        guard let version = store.promptVersion() else { return known.record?.session }
        if known.isKnown, version == known.version { return known.record?.session }
        return promptSession() ?? nil
    }

    /// The session that this process knows to go on; nil while it knows of none. No look at the store.
    var knownId: UUID? { state.withLock { Baseline($0).record?.session } }

    /// The session that goes on in the store now, unless it has ended here.
    ///
    /// - Returns: Nil when the store does not tell it at once.
    private func promptSession() -> UUID?? {
        store.promptSession().map { stored in
            stored.flatMap { session in state.withLock { $0.isOver(session) } ? nil : session }
        }
    }

    /// A moment, as far as this process can tell what the store had then.
    struct Moment: Sendable {
        /// Whether anything had been known of the store by then.
        let wasKnown: Bool
        /// The session that was stored at that time; nil when the store does not tell that at once.
        let session: UUID??
        /// Whether the store had what is known here, so that there is nothing to look for.
        let isUpToDate: Bool
        fileprivate let watch: Stopwatch
    }

    /// This moment.
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

    /// The longest that a look may take which is to tell of its beginning, where the store does not tell its session at
    /// once: longer, it may show a user who has signed in since.
    private static var lookLimit: Duration { .milliseconds(250) }

    /// What a call goes on with that began at a moment, now that the store has been looked at.
    enum Belonging: Equatable {
        /// The session that was found: it had begun before the call.
        case found(Coordinator.Session)
        /// The session that this process knew, be it over by now.
        case known
        /// Nothing: somebody has signed in or out since, and this process knew of nobody.
        case superseded
    }

    /// The session of a call that began at `moment`.
    func belonging(since moment: Moment, _ present: () -> Coordinator.Session) -> Belonging {
        let (session, found) = turn.take { (present(), state.withLock { $0.record?.session }) }
        guard let before = moment.session else {
            // The first look must find somebody, however slow the store is.
            return !moment.wasKnown || moment.watch.elapsed <= Self.lookLimit ? .found(session) : .known
        }
        // A renewal by another process changes the record, and not its session.
        if before == found { return .found(session) }
        if moment.wasKnown { return .known }
        // Where nobody is signed in, the call has to hear why.
        return found == nil ? .found(session) : .superseded
    }

    /// The rest of a credential's lifetime, as the coordinator goes by it; nil for one that serves until the server
    /// rejects it.
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

/// A lock that the thread which holds it may take again: the coordinator tells its observer while it is held, and an
/// observer may sign out.
struct ReentrantLock: Sendable {
    private let lock = Locked(())
    private let holder = Locked<ObjectIdentifier?>(nil)

    /// Runs `work` while no other thread has the turn.
    func take<Value>(_ work: () -> Value) -> Value {
        let thread = ObjectIdentifier(Thread.current)
        if holder.withLock({ $0 == thread }) { return work() }
        var value: Value?
        lock.withLock { _ in
            holder.withLock { $0 = thread }
            value = work()
            holder.withLock { $0 = nil }
        }
        guard let value else { preconditionFailure("the work has ended") }
        return value
    }
}
