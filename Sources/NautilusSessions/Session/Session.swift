import Foundation
import Nautilus

/// One account's session: its credential, of whatever kind, how it is renewed, and where it is kept.
///
/// It is all that an API module needs to be authorized, in one line of its service:
///
/// ```swift
/// struct NotesService: HttpService {
///     let session: Session<ApiToken>
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var retrierFactory: any RetrierFactory { session.retrierFactory }
/// }
/// ```
/// However many calls need a fresh credential at once, and in however many processes, there is one renewal: within the
/// process a `RefreshCoordinator` sees to it, among processes the store's lock. A renewal, a sign-in or a sign-out in
/// another process is noticed before the next attempt. A process that heeds no lock, such as an older version of an
/// app, may still spend a credential; so the store is read once more before a session is declared over, and what is
/// there is adopted.
///
/// Shared by reference: one for each account.
public final class Session<Credential: Codable & Sendable & Equatable>: Sendable {
    /// The key under which the credential is kept in the store.
    public let key: CredentialKey
    let coordinator: RefreshCoordinator<Credential>
    let shared: SharedCredential<Credential>
    let rules: SessionRules<Credential>
    private let broadcast: Broadcast<SessionEvent>
    private let states: Broadcast<Bool>
    private let ends: Broadcast<UUID>
    private let originCheck: SessionOriginCheck

    /// Creates a session. Nothing is read or sent before it is used.
    ///
    /// - Parameters:
    ///   - key: The key under which the credential is kept: its issuer, such as the API's origin, and its account,
    ///     where an app has several.
    ///   - rules: The rules of the credential: how it is stamped, renewed and revoked.
    ///   - store: The store of the credential. Default: in memory, so that nothing is written unless it is asked for.
    ///   - origins: The origins to which the credential may be sent. Default: `CredentialOrigins.first`, the first one
    ///     it is sent to; name all origins of an API that has several.
    ///   - sharing: How it shares the credential with other processes. Default: that of ``CredentialSharing``.
    ///   - limits: The bounds of renewing. Default: those of `RefreshLimits`, but with a time limit of 90 s: the wait
    ///     for the lock, at most 30 s, and a request of 25 s, once more when its answer is lost, fit into it. So a call
    ///     without a deadline waits for its credential two minutes at most: 30 s, the patience, until the last renewal
    ///     begins that it waits for, and then for that one. A call that is rejected after such a wait waits once more
    ///     at most.
    ///   - clock: The clock that measures time and sleeps. Default: `ContinuousClock`, since credentials also expire
    ///     while the machine sleeps.
    ///   - random: The source of jitter. Default: the system's generator.
    ///   - observer: An observer of the starts and ends of renewals. Default: none.
    public init(
        key: CredentialKey,
        rules: SessionRules<Credential>,
        store: any CredentialStore = MemoryStore(),
        origins: CredentialOrigins = .first,
        sharing: CredentialSharing = CredentialSharing(),
        limits: RefreshLimits = RefreshLimits(timeLimit: .seconds(90)),
        clock: any Clock<Duration> = DefaultClock.current,
        random: any RandomSource = SystemRandomSource(),
        observer: any CallObserver = NilCallObserver()
    ) {
        let broadcast = Broadcast<SessionEvent>(bufferLimit: 100)
        let states = Broadcast<Bool>(bufferLimit: 16, latest: false)
        let ends = Broadcast<UUID>(bufferLimit: 100)
        let shared = SharedCredential<Credential>(
            store: SharedStore(store: store, key: key, clock: clock, random: random, sharing: sharing),
            rules: rules,
            timeLimit: limits.timeLimit,
            report: { broadcast.send($0) },
            reportEnd: { ends.send($0) }
        )
        let coordinator = RefreshCoordinator<Credential>(
            lifetime: { [shared] in shared.lifetime(of: $0) },
            origins: origins,
            limits: limits,
            clock: clock,
            random: random,
            observer: observer,
            listener: {
                let event = SessionEvent($0)
                // The listener is told one event at a time, so this is the latest.
                if let isSignedIn = event.isSignedIn, isSignedIn != states.latest { states.send(isSignedIn) }
                broadcast.send(event)
            },
            refresh: { [shared] in try await shared.refresh($0) }
        )
        shared.attach(coordinator)
        (self.key, self.rules, self.coordinator, self.shared) = (key, rules, coordinator, shared)
        (self.broadcast, self.states, self.ends) = (broadcast, states, ends)
        self.originCheck = SessionOriginCheck(origins)
    }

    /// Authorizes every attempt, renews once for all, and retries with backoff what passes with time, but not while a
    /// renewal is in flight. ``retrierFactory(_:)`` is the same with a policy of yours.
    public var retrierFactory: any RetrierFactory { retrierFactory(.standard) }

    /// Authorizes every attempt, renews once for all, and retries by a policy, but not while a renewal is in flight. For
    /// other retriers than `BackoffRetrier`, compose ``authorization`` with them.
    ///
    /// - Parameter policy: The attempts, delays and budget of retries. The session's ``gate`` takes the place of its own.
    public func retrierFactory(_ policy: BackoffRetrier.Configuration) -> any RetrierFactory {
        ComposedRetrier.factory(authorization, BackoffRetrier.factory(policy.with { $0.gate = gate }))
    }

    /// Authorizes every attempt and renews once for all, and nothing else: to be composed with other retriers.
    public var authorization: any RetrierFactory { SessionRetrier.factory(self) }

    /// The gate that holds back retries while a renewal is in flight, or while an origin has asked for a pause.
    public var gate: any RetryGate { coordinator }

    /// Whether somebody is signed in, as far as this process has seen; ``restore()`` looks at the store first.
    public var isSignedIn: Bool { coordinator.current != nil }

    /// The events of the session from now on: a new stream for each access, any number at a time.
    ///
    /// A stream keeps the latest 100 events for a slow reader, and ends with the session.
    public var events: AsyncStream<SessionEvent> { broadcast.stream() }

    /// The events of the session, from the latest one on, for a listener that comes late; otherwise as ``events``.
    ///
    /// - Parameter replaysLatest: Whether the stream begins with the event that happened last, if any has.
    public func events(replayingLatest replaysLatest: Bool) -> AsyncStream<SessionEvent> {
        broadcast.stream(replayingLatest: replaysLatest)
    }

    /// ``isSignedIn`` as it is now, and then each change of it: a new stream for each access, any number at a time. It has
    /// no element when one user takes another's place; ``grants`` has.
    ///
    /// A stream keeps the latest 16 elements for a slow reader, and ends with the session.
    public var signedInStates: AsyncStream<Bool> { states.stream(replayingLatest: true) }

    /// The session that a call which begins now belongs to, for what is kept apart by user, as a cache does; another
    /// one after each sign-in, and the same in all processes and in the next launch.
    ///
    /// Nil when nobody is signed in, for the moment in which somebody signs in or out, and while it is not known: of a store
    /// that takes its time, as a keychain does, until ``restore()`` or the first call. What another process has changed
    /// there is seen by the call after next, since each looks; in a ``FileStore`` or a ``MemoryStore`` at once.
    public var id: UUID? { shared.id }

    /// The ``id`` of each session that is over from now on, as soon as this process knows: for what was kept under it,
    /// a cache's responses for one. A new stream for each access, any number at a time.
    ///
    /// A stream keeps the latest 100 elements for a slow reader, and ends with the session's object.
    public var endedIds: AsyncStream<UUID> { ends.stream() }
}

extension Session: Redacted {
    /// The issuer and the state of the session; never a credential, nor the account's name.
    public var description: String { "Session(\(key.issuer), \(coordinator))" }
}

extension Session: CredentialSource {
    /// A credential with its version.
    public typealias Grant = RefreshCoordinator<Credential>.Grant

    /// The session that a call which begins now belongs to, as far as this process has seen. One that is merely read
    /// from the store later, having been there all along, is the same one.
    public var session: RefreshCoordinator<Credential>.Session { coordinator.session }

    /// The credential as of now, with its version, for code that sends its own requests; nil when nobody is signed in.
    /// It does not look at the store and renews nothing: prefer ``grant(continuing:)``.
    public var current: Grant? { coordinator.current }

    /// ``current`` as it is now, and each one that takes its place, renewals included; nil while nobody is signed in: for
    /// who is signed in, if the credential says it. ``restore()`` looks at the store first. See
    /// `RefreshCoordinator.grants`.
    public var grants: AsyncStream<Grant?> { coordinator.grants }

    /// Why a session is over, as far as this process has seen; see `RefreshCoordinator.end(of:)`.
    public func end(of session: RefreshCoordinator<Credential>.Session) -> RefreshError? {
        coordinator.end(of: session)
    }

    /// Returns when a session is over, as far as this process has seen, and when the task is cancelled; see
    /// `RefreshCoordinator.waitForEnd(of:)`.
    public func waitForEnd(of session: RefreshCoordinator<Credential>.Session) async {
        await coordinator.waitForEnd(of: session)
    }

    /// Looks at the store in the background, and at most once a second: an open connection asks, when something goes or
    /// comes over it, so that it ends when the user has signed out in another process.
    public func lookForChanges() { shared.lookForChanges() }

    /// Looks at the store: a user who was signed in by an earlier run, or by another process, is signed in here, too.
    ///
    /// Calls do this by themselves. An app does it at its start, to know which screen to show.
    ///
    /// - Returns: Whether somebody is signed in.
    /// - Throws: ``SessionError`` of kind ``SessionError/Kind/store(_:)`` when nothing is known yet and the store
    ///   cannot be read.
    @discardableResult
    public func restore() async throws(SessionError) -> Bool {
        try await shared.catchUp()
        return isSignedIn
    }

    /// The credential to stamp on an attempt; see `RefreshCoordinator.grant(continuing:)`. What other processes have
    /// done counts.
    ///
    /// - Parameter previous: The grant of the call's attempt before. Default: nil, for its first.
    /// - Throws: `RefreshError`; ``SessionError`` when the store cannot be read at all; `CancellationError`.
    public func grant(continuing previous: Grant? = nil) async throws -> Grant {
        try await shared.catchUp()
        return try await coordinator.grant(continuing: previous)
    }

    /// The credential to stamp on an attempt that goes to `origin`; see `RefreshCoordinator.grant(continuing:for:)`.
    ///
    /// - Throws: The errors of ``grant(continuing:)``; `RefreshError` when the credential is not for `origin`, also where
    ///   another session object of this process, which has the same record, has taken it elsewhere.
    public func grant(continuing previous: Grant?, for origin: HttpOrigin) async throws -> Grant {
        try await shared.catchUp()
        let grant = try await coordinator.grant(continuing: previous, for: origin)
        try originCheck.admit(shared.knownId, to: origin)
        return grant
    }

    /// The credential with which to send a call again after the server has rejected its `grant`; see
    /// `RefreshCoordinator.refresh(rejecting:)`. One that another process has refreshed meanwhile comes without a
    /// refresh.
    ///
    /// - Throws: `RefreshError`; ``SessionError`` when the store cannot be read at all; `CancellationError`.
    public func refresh(rejecting grant: Grant) async throws -> Grant {
        try await shared.catchUp()
        return try await coordinator.refresh(rejecting: grant)
    }
}

extension Session {
    /// Waits for the renewal that is in flight, if there is one, and saves what could not be saved before. A
    /// command-line tool does this before it ends, so that no renewed credential is lost with the process: a renewal
    /// goes on when the call that asked for it has failed or was cancelled, and may run in the background of one that
    /// has succeeded.
    ///
    /// - Throws: ``SessionError`` when it still cannot be saved, and of kind ``SessionError/Kind/cancelled`` as soon as
    ///   the task is cancelled during the wait. Returns at once when there is nothing to wait for or to save.
    public func flush() async throws(SessionError) {
        do {
            try await coordinator.waitForRefresh()
        } catch {
            throw SessionError(.cancelled)
        }
        try await shared.write()
        // Of a sign-out elsewhere, by a process that is gone.
        await shared.state.withLock { $0.removal }?.value
    }
}
