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
/// another process is noticed before the next attempt.
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
    ///     begins that it waits for, and then for that one.
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
        clock: any Clock<Duration> = ContinuousClock(),
        random: any RandomSource = SystemRandomSource(),
        observer: any CallObserver = NilCallObserver()
    ) {
        let broadcast = Broadcast<SessionEvent>(bufferLimit: 100)
        let states = Broadcast<Bool>(bufferLimit: 16, latest: false)
        let ends = Broadcast<UUID>(bufferLimit: 100)
        let shared = SharedCredential<Credential>(
            store: SharedStore(store: store, key: key, clock: clock, random: random, sharing: sharing),
            rules: rules,
            report: { broadcast.send($0) },
            reportEnd: { ends.send($0) }
        )
        let coordinator = RefreshCoordinator<Credential>(
            lifetime: rules.lifetime,
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
    }

    /// Authorizes every attempt, renews once for all, and retries with backoff what passes with time, but not while a
    /// renewal is in flight. For other retriers than the default `BackoffRetrier`, compose ``authorization`` with them.
    public var retrierFactory: any RetrierFactory {
        ComposedRetrier.factory(authorization, BackoffRetrier.factory(gate: gate))
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

    /// ``isSignedIn`` as it is now, and then each change of it: a new stream for each access, any number at a time.
    ///
    /// A stream keeps the latest 16 elements for a slow reader, and ends with the session.
    public var signedInStates: AsyncStream<Bool> { states.stream(replayingLatest: true) }

    /// The session that a call which begins now belongs to, for what is kept apart by user, as a cache does; another
    /// one after each sign-in, and the same in all processes and in the next launch. Nil when nobody is known to be
    /// signed in: that is known from ``restore()`` or the first call on; and for the moment in which somebody signs in
    /// or out.
    public var id: UUID? { shared.id }

    /// The ``id`` of each session that is over from now on, as soon as this process knows: for what was kept under it,
    /// a cache's responses for one. A new stream for each access, any number at a time.
    ///
    /// A stream keeps the latest 100 elements for a slow reader, and ends with the session's object.
    public var endedIds: AsyncStream<UUID> { ends.stream() }
}

extension Session: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The issuer and the state of the session; never a credential, nor the account's name.
    public var description: String { "Session(\(key.issuer), \(coordinator))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["session": description]) }
}
