/// Keeps one credential for all calls of a service and refreshes it once, however many calls need it.
///
/// Every attempt is authorized with a ``VersionedCredential``, and a rejected call hands it back. Only the first call
/// to hand back the present generation starts a refresh; the others wait for it, or get its result.
/// ```swift
/// let coordinator = RefreshCoordinator<Token>(credential: token, lifetime: { $0.lifetime }) { expired in
///     try await RefreshToken(expired).schedule(with: AccountService())
/// }
/// var credential = try await coordinator.credential()  // before sending: waits for a refresh in flight
/// credential = try await coordinator.refresh(rejecting: credential)  // after a 401: at most one refresh for all
/// ```
/// Shared by reference. Also the gate of the service's retries; see ``pass(to:)``.
public final class RefreshCoordinator<Credential: Sendable>: RetryGate {
    let guarded: Locked<GuardedRefresh>
    let limits: RefreshLimits
    let clock: any Clock<Duration>
    let stopwatch: Stopwatch
    let pauses: OriginPauses
    let obtain: @Sendable (Credential) async throws -> Credential
    let lifetime: @Sendable (Credential) -> Duration?
    let random: any RandomSource
    private let origins: CredentialOrigins
    /// The origin to which the credential was sent first.
    private let firstOrigin = Locked<HttpOrigin?>(nil)
    let observer: any CallObserver
    let broadcast = Broadcast<RefreshEvent>(bufferLimit: 100)
    /// Only the latest credential is of any use, so only one is kept.
    let credentialBroadcast = Broadcast<VersionedCredential?>(bufferLimit: 1, latest: .some(nil))
    let listener: (@Sendable (RefreshEvent) -> Void)?

    /// Creates a coordinator.
    ///
    /// - Parameters:
    ///   - credential: The credential of a user who is signed in already. Default: nil, no user.
    ///   - lifetime: How long a credential serves from its receipt; for a stored one, the rest of its lifetime. Called
    ///     once for each credential. Default: nil, no expiry.
    ///   - origins: Where the credential may be sent. Default: the first it is sent to, as most services have one.
    ///   - limits: The bounds of refreshing. Default: those of ``RefreshLimits``.
    ///   - clock: Measures expiry, limits and pauses. Default: `ContinuousClock`, which runs while the device sleeps.
    ///   - random: The source of the cool-down's jitter. Default: the system's generator.
    ///   - observer: Is notified when a refresh starts or ends. Default: none.
    ///   - listener: Called with every event in order, before ``events`` get it, outside of all locks. Default: none.
    ///   - refresh: Makes a new credential, which keeps what the reply leaves out, in a task of its own. It throws
    ///     ``RefreshError/Terminal`` to end the session; a ``RefreshFailure`` says whether to try again.
    public convenience init(
        credential: Credential? = nil,
        lifetime: @escaping @Sendable (Credential) -> Duration? = { _ in nil },
        origins: CredentialOrigins = .first,
        limits: RefreshLimits = RefreshLimits(),
        clock: any Clock<Duration> = DefaultClock.current,
        random: any RandomSource = .system,
        observer: any CallObserver = .none,
        listener: (@Sendable (RefreshEvent) -> Void)? = nil,
        refresh: @escaping @Sendable (Credential) async throws -> Credential
    ) {
        self.init(
            lifetime: lifetime,
            origins: origins,
            limits: limits,
            clock: clock,
            random: random,
            observer: observer,
            listener: listener,
            onLook: {},
            refresh: refresh
        )
        if let credential { signIn(credential) }
    }

    /// Creates a coordinator whose sessions may be ended by other processes.
    ///
    /// - Parameter onLook: Begins to look whether one has; see ``CallSession/look()``.
    package init(
        lifetime: @escaping @Sendable (Credential) -> Duration?,
        origins: CredentialOrigins,
        limits: RefreshLimits,
        clock: any Clock<Duration>,
        random: any RandomSource,
        observer: any CallObserver,
        listener: (@Sendable (RefreshEvent) -> Void)?,
        onLook: @escaping @Sendable () -> Void,
        refresh: @escaping @Sendable (Credential) async throws -> Credential
    ) {
        self.guarded = Locked(GuardedRefresh(limits: limits, onLook: onLook))
        self.limits = limits
        self.clock = clock
        self.stopwatch = Stopwatch(clock)
        self.pauses = OriginPauses(clock: clock, random: random)
        self.obtain = refresh
        self.lifetime = lifetime
        self.random = random
        self.origins = origins
        self.observer = observer
        self.listener = listener
    }

    /// The credential as it is, expired or not; nil when signed out, and after the session has expired.
    ///
    /// Synchronous, for a `header` that cannot wait. Prefer ``credential(continuing:)``, which never gives a credential
    /// that is known to be dead.
    public var current: VersionedCredential? {
        guard let credential = guarded.withLock({ $0.current }) else { return nil }
        return VersionedCredential(credential)
    }

    /// Whether a refresh is in flight, even in the background while the credential still serves.
    public var isRefreshing: Bool { guarded.withLock { $0.machine.state.isRefreshing } }

    /// The events of the session from now on: a new stream for each access, any number at a time.
    ///
    /// A stream keeps the latest 100 events for a slow reader, and ends with the coordinator.
    public var events: AsyncStream<RefreshEvent> { broadcast.stream() }

    /// The credential that authorizes an attempt.
    ///
    /// A valid credential comes at once; within the leeway before its expiry it is also refreshed in the background. A
    /// credential that has expired, or that the server has rejected, is refreshed first; all calls wait for one
    /// refresh.
    ///
    /// - Parameter previous: The credential of the call's previous attempt; nil, the default, for the first one. A call
    ///   that was authorized in an earlier session fails, so that it never goes out as another user.
    /// - Throws: ``RefreshError``, or `CancellationError` as soon as the task is cancelled; the refresh goes on then.
    public func credential(continuing previous: VersionedCredential? = nil) async throws -> VersionedCredential {
        try await VersionedCredential(ask(.init(rejected: nil, session: previous?.session)))
    }

    /// The credential that authorizes an attempt to `origin`; otherwise like ``credential(continuing:)``.
    ///
    /// - Throws: Also ``RefreshError/foreignOrigin(_:own:)`` and ``RefreshError/insecureOrigin(_:)``; in these cases
    ///   nothing is refreshed.
    public func credential(continuing previous: VersionedCredential?, for origin: HttpOrigin) async throws
        -> VersionedCredential
    {
        try admit(origin)
        let credential = try await credential(continuing: previous)
        // Checked again: of two simultaneous first calls to different origins, only one may pass.
        try admit(origin, taking: true)
        return credential
    }

    /// Checks whether the credential may go to `origin`.
    ///
    /// - Parameter taking: Whether it goes there now, so that it is the first origin if there was none. Default: no.
    func admit(_ origin: HttpOrigin, taking: Bool = false) throws(RefreshError) {
        let first = firstOrigin.withLock { first in
            if taking { first = first ?? origin }
            return first
        }
        try origins.admit(origin, after: first)
    }

    /// The credential with which to repeat a call after the server has rejected its `credential`.
    ///
    /// If `credential` is of the present generation, it is refreshed, once for all calls; if it has been replaced
    /// since, the replacement is returned without another refresh. A call refreshes at most once: when a fresh
    /// credential is rejected, too, surface the error.
    ///
    /// - Throws: ``RefreshError``, or `CancellationError` as soon as the task is cancelled; the refresh goes on then.
    public func refresh(rejecting credential: VersionedCredential) async throws -> VersionedCredential {
        try await VersionedCredential(ask(.init(rejected: credential.generation, session: credential.session)))
    }

    /// Begins a session that replaces the current one, whose refresh is cancelled and whose calls fail with
    /// ``RefreshError/superseded``.
    public func signIn(_ credential: Credential) {
        handle(.signIn(CredentialBox(credential), lifetime: lifetime(credential)))
    }

    /// Ends the session: its refresh is cancelled, a late result is dropped, and its calls fail with
    /// ``RefreshError/signedOut`` underneath. `Session` of `NautilusSessions` signs out by this, too, but lets a request for a new
    /// credential go on, and has the server revoke what it brings.
    public func signOut() {
        handle(.signOut)
    }

    /// Takes over a credential that was refreshed elsewhere, such as by another process: the session goes on.
    ///
    /// - Parameters:
    ///   - old: The credential to replace. Nothing happens if it is no longer the present one.
    ///   - credential: The replacement. Calls that wait for a refresh get it; the refresh is cancelled.
    public func replace(_ old: VersionedCredential, with credential: Credential) {
        handle(.replace(generation: old.generation, CredentialBox(credential), lifetime: lifetime(credential)))
    }
}

extension RefreshCoordinator {
    /// The events of the session, from the latest one on: a new stream for each call, any number at a time.
    ///
    /// For a listener that starts late and needs to know whether somebody is signed in. Otherwise like ``events``.
    ///
    /// - Parameter replaysLatest: Whether the stream begins with the event that happened last, if any has.
    public func events(replayingLatest replaysLatest: Bool) -> AsyncStream<RefreshEvent> {
        broadcast.stream(replayingLatest: replaysLatest)
    }

    /// The present credential, then each one that replaces it; nil while nobody is signed in. A new stream for each
    /// access, any number at a time.
    ///
    /// A slow reader gets the latest credential and misses those in between, which are no longer valid. To authorize an
    /// attempt, ask for ``credential(continuing:)``, which waits for a refresh. The stream ends with the coordinator.
    public var credentials: AsyncStream<VersionedCredential?> { credentialBroadcast.stream(replayingLatest: true) }

    /// Sends the present credential to the streams; it may be newer than the event just sent.
    ///
    /// Called only by the code that delivers events, one at a time, so that no older credential can follow.
    func publishCredential() {
        let credential = current
        guard credential?.generation != credentialBroadcast.latest??.generation else { return }
        credentialBroadcast.send(credential)
    }
}

extension RefreshCoordinator {
    /// Returns when calls need not wait for a refresh, `origin` is not paused, and it is this call's turn: calls that
    /// have waited go on one after the other, as ``OriginPauses`` lets them.
    ///
    /// A background refresh, while the credential still serves, holds nothing back. Within a refresh of this
    /// coordinator, only the pause counts.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func pass(to origin: HttpOrigin) async throws {
        let isRefresh = CredentialWork.refreshes(self)
        repeat {
            // Who waits here for the refresh has failed for another reason, such as a 503, and takes a slot afterwards.
            // A call that waited for the refresh itself (`ask`) comes when it is over, and goes on at once, unless others
            // take slots.
            var hasWaited = false
            repeat {
                if !isRefresh, try await waitOutRefresh() { hasWaited = true }
                try await pauses.waitOut(origin)
                // A refresh may have started during the pause.
            } while !isRefresh && isHoldingRetries
            try await pauses.takeSlot(to: origin, havingWaited: hasWaited)
        } while pauses.remainingPause(of: origin) > .zero || !isRefresh && isHoldingRetries
    }

    /// Holds back all retries to `origin` for at least `pause`; a longer pause that is already running stays.
    public func close(_ origin: HttpOrigin, for pause: Duration) {
        pauses.close(origin, for: pause)
    }

    /// The rest of the pause that `origin` ordered; zero when there is none. Refreshes do not count.
    public func remainingPause(of origin: HttpOrigin) -> Duration {
        pauses.remainingPause(of: origin)
    }

    /// The pauses that origins have ordered, without the refreshes.
    public var anonymous: any RetryGate { pauses }

    private var isHoldingRetries: Bool {
        let now = stopwatch.elapsed
        return guarded.withLock { $0.machine.state.holdsRetries(at: now) }
    }
}

extension RefreshCoordinator: Redacted {
    /// The session in a few words, for a log: the generation, never the credential.
    public var description: String {
        let state = guarded.withLock { $0.machine.state }
        return switch state {
        case .signedOut(nil): "signed out"
        case .signedOut: "session expired"
        case .idle(let held): Self.text(held)
        case .refreshing(let held, _): "\(Self.text(held)), refreshing"
        case .coolingDown(let held, _): "\(Self.text(held)), cooling down"
        }
    }

    private static func text(_ held: HeldCredential) -> String { "generation \(held.versioned.generation)" }
}
