import Foundation
import Nautilus

/// One account's session: its credential, of whatever kind, how the credential is refreshed, and where it is kept. One
/// line authorizes the calls of a service:
/// ```swift
/// struct NotesService { let session: Session<ApiToken> }
/// extension NotesService: HttpService {
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var retrierFactory: any RetrierFactory { session.retrierFactory }
/// }
/// ```
/// However many calls in however many processes need a fresh credential at once, there is one refresh. A refresh, a
/// sign-in or a sign-out in another process is noticed before the next attempt; see the guide `SeveralProcesses`. A
/// session is shared by reference: one for each account.
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

    /// Creates a session. Nothing is read or sent before the session is used.
    ///
    /// - Parameters:
    ///   - key: The key of the credential in the store: its issuer, such as the API's origin, and, if there are
    ///     several, its account.
    ///   - rules: How the credential authorizes a request, and how it is refreshed and revoked.
    ///   - store: Where the credential is kept. Default: in memory, so that nothing is written unless you ask for it.
    ///   - origins: Where the credential may be sent. Default: the first origin it is sent to; name all of several.
    ///   - sharing: How the session shares the credential with other processes. Default: that of ``CredentialSharing``.
    ///   - limits: The limits of refreshing. Default: those of `RefreshLimits`, but with a time limit of 90 s, enough
    ///     for the lock (30 s at most) and a request of 25 s, sent twice if its answer is lost.
    ///   - clock: Measures time and sleeps. Default: `ContinuousClock`: credentials also expire during sleep.
    ///   - random: The source of jitter. Default: the system's generator.
    ///   - observer: Is notified when a refresh starts or ends. Default: none.
    public init(
        key: CredentialKey,
        rules: SessionRules<Credential>,
        store: any CredentialStore = MemoryStore(),
        origins: CredentialOrigins = .first,
        sharing: CredentialSharing = CredentialSharing(),
        limits: RefreshLimits = RefreshLimits(timeLimit: .seconds(90)),
        clock: any Clock<Duration> = DefaultClock.current,
        random: any RandomSource = .system,
        observer: any CallObserver = .none
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
            onLook: { [weak shared] in shared?.lookForChanges() },
            refresh: { [shared] in try await shared.refresh($0) }
        )
        shared.attach(coordinator)
        (self.key, self.rules, self.coordinator, self.shared) = (key, rules, coordinator, shared)
        (self.broadcast, self.states, self.ends) = (broadcast, states, ends)
        self.originCheck = SessionOriginCheck(origins)
    }

    /// Authorizes every attempt, refreshes once for all, and retries transient failures with backoff, but not while a
    /// refresh is in flight. ``retrierFactory(_:)`` does the same with your own policy.
    public var retrierFactory: any RetrierFactory { retrierFactory(.standard) }

    /// Authorizes every attempt, refreshes once for all, and retries by a policy, but not while a refresh is in flight.
    /// To use other retriers than `BackoffRetrier`, compose them with ``authorization``.
    ///
    /// - Parameter policy: The attempts, delays and budget of retries. The session's ``gate`` replaces the policy's
    ///   own.
    public func retrierFactory(_ policy: BackoffRetrier.Configuration) -> any RetrierFactory {
        .composed(authorization, BackoffRetrier.factory(policy.with { $0.gate = gate }))
    }

    /// Authorizes every attempt and refreshes once for all, and nothing else; to be composed with other retriers.
    public var authorization: any RetrierFactory {
        authorization({ [rules] in try rules.authorize($0, &$1) }, refusing: { [rules] in rules.insufficiency($0) })
    }

    /// The gate that holds back retries while a refresh is in flight, or while an origin has asked for a pause.
    public var gate: any RetryGate { coordinator }

    /// Whether somebody is signed in, as far as this process has seen; ``restore()`` looks at the store first.
    public var isSignedIn: Bool { coordinator.current != nil }

    /// The events of the session from now on. Each access gives a new stream; any number may be used at a time.
    ///
    /// A stream keeps the latest 100 events for a slow reader, and ends with the session.
    public var events: AsyncStream<SessionEvent> { broadcast.stream() }

    /// The events of the session from the latest one on, for a listener that comes late; otherwise like ``events``.
    ///
    /// - Parameter replaysLatest: Whether the stream begins with the latest event, if there has been one.
    public func events(replayingLatest replaysLatest: Bool) -> AsyncStream<SessionEvent> {
        broadcast.stream(replayingLatest: replaysLatest)
    }

    /// ``isSignedIn`` as it is now, and then each change of it. Each access gives a new stream; any number may be used
    /// at a time. When one user takes another's place, it sends nothing; ``credentials`` does.
    ///
    /// A stream keeps the latest 16 elements for a slow reader, and ends with the session.
    public var signedInStates: AsyncStream<Bool> { states.stream(replayingLatest: true) }

    /// The session of a call that begins now, for data that is kept apart by user, such as a cache. It changes with
    /// each sign-in, and is the same in all processes and in the next launch.
    ///
    /// Nil when nobody is signed in, for the moment in which somebody signs in or out, and while it is not known: with
    /// a slow store, such as a keychain, until ``restore()`` or the first call. A change by another process is seen at
    /// once in a ``FileStore`` or a ``MemoryStore``; in a slower store by the call after next, since each call looks.
    public var id: UUID? { shared.id }

    /// The ``id`` of each session that ends from now on, as soon as this process knows. It lets you drop what was kept
    /// under the id, such as a cache's responses. Each access gives a new stream; any number may be used at a time.
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
    public typealias VersionedCredential = RefreshCoordinator<Credential>.VersionedCredential

    /// The session of a call that begins now. A session that was stored all along and is merely read later counts as
    /// the same one. A change by another process is seen at once in a ``FileStore`` or a ``MemoryStore``; in a slower
    /// store by the call after next: one that is bound before it fails with `RefreshError.superseded`.
    public var session: CallSession { shared.session(coordinator) }

    /// The credential as of now, with its version, for code that sends its own requests; nil when nobody is signed in.
    /// Neither looks at the store nor refreshes: prefer ``credential(continuing:)``.
    public var current: VersionedCredential? { coordinator.current }

    /// ``current`` as it is now, and each credential that replaces it, by a refresh too; nil while nobody is signed in.
    /// Tells who is signed in, if the credential says so. ``restore()`` looks at the store first. See
    /// `RefreshCoordinator.credentials`.
    public var credentials: AsyncStream<VersionedCredential?> { coordinator.credentials }

    /// Looks at the store: a user who was signed in by an earlier run, or by another process, is then signed in here,
    /// too.
    ///
    /// Calls do this by themselves. An app does it at launch, to know which screen to show.
    ///
    /// - Returns: Whether somebody is signed in.
    /// - Throws: ``SessionError`` of kind ``SessionError/Kind/store(_:)`` when nothing is known yet and the store
    ///   cannot be read.
    @discardableResult
    public func restore() async throws(SessionError) -> Bool {
        try await shared.catchUp()
        return isSignedIn
    }

    /// The credential that authorizes an attempt; see `RefreshCoordinator.credential(continuing:)`. Changes by other
    /// processes are taken into account.
    ///
    /// - Parameter previous: The credential of the call's previous attempt. Default: nil, for the first attempt.
    /// - Throws: `RefreshError`; ``SessionError`` when the store cannot be read at all; `CancellationError`.
    public func credential(continuing previous: VersionedCredential? = nil) async throws -> VersionedCredential {
        try await shared.catchUp()
        return try await coordinator.credential(continuing: previous)
    }

    /// The newest credential of a session if it can be used now, as far as this process has seen.
    ///
    /// - Throws: `RefreshError` when the credential is not for `origin`, also because another session object of this
    ///   process with the same record has taken it elsewhere first.
    public func usable(in session: CallSession, for origin: HttpOrigin) throws -> VersionedCredential? {
        // Asked first, so that the coordinator does not learn an origin which is refused.
        try originCheck.admit(shared.knownId, to: origin)
        return try coordinator.usable(in: session, for: origin)
    }

    /// Whether the session has a credential that serves, as far as this process has seen.
    public func serves(_ session: CallSession) -> Bool { coordinator.serves(session) }

    /// Whether the store has what is known here; false where it cannot answer at once.
    public var isUpToDate: Bool? { shared.isUpToDate }

    /// Looks at the store, and waits until the session has a credential that can be used.
    ///
    /// - Throws: The errors of ``credential(continuing:)``.
    public func ready(in session: CallSession) async throws {
        do throws(SessionError) {
            try await shared.catchUp()
        } catch {
            // The caller has left, or the deadline has passed.
            throw error.kind == .cancelled ? CancellationError() : error
        }
        try await coordinator.ready(in: session)
    }

    /// Has a rejected credential replaced; see `refresh(rejecting:)` with a versioned credential.
    public func refresh(rejecting tag: CredentialTag) async throws -> CredentialTag {
        try await shared.catchUp()
        return try await coordinator.refresh(rejecting: tag)
    }

    /// The credential with which to send a call again after the server has rejected its `credential`; see
    /// `RefreshCoordinator.refresh(rejecting:)`. A credential that another process has refreshed meanwhile is returned
    /// without a refresh.
    ///
    /// - Throws: `RefreshError`; ``SessionError`` when the store cannot be read at all; `CancellationError`.
    public func refresh(rejecting credential: VersionedCredential) async throws -> VersionedCredential {
        try await shared.catchUp()
        return try await coordinator.refresh(rejecting: credential)
    }
}

extension Session {
    /// Waits for the refresh in flight, if there is one, and saves what could not be saved before. A command-line tool
    /// does this before it ends, so that no refreshed credential is lost with the process: a refresh goes on after the
    /// call that asked for it has failed or was cancelled, and may run in the background of a call that has succeeded.
    /// If the session has ended meanwhile, this waits until the server was asked to forget what the refresh has
    /// brought; after an end by another process half a minute, since a sign-in there may be about to be stored. It
    /// waits as well for what ``signOutNow()`` has begun, but not for a login under way.
    ///
    /// - Throws: ``SessionError`` when saving still fails, and of kind ``SessionError/Kind/cancelled`` as soon as the
    ///   task is cancelled during the wait. Returns at once when there is nothing to wait for or to save.
    public func flush() async throws(SessionError) {
        do {
            try await coordinator.waitForRefresh()
        } catch {
            throw SessionError(.cancelled)
        }
        try await shared.write()
        await shared.finishBackground(includingChecks: true)
        if Task.isCancelled { throw SessionError(.cancelled) }
        // Wait for the removal of what a killed process's sign-out has left.
        await shared.state.withLock { $0.removal }?.value
    }
}
