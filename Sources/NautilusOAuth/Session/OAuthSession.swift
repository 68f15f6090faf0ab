import Foundation
import Nautilus

/// One account's session: its credential, how it is refreshed, and where it is kept.
///
/// It is all that an API module needs to be authorized, in one line of its service:
///
/// ```swift
/// struct NotesService: HttpService {
///     let session: OAuthSession
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var retrierFactory: any RetrierFactory { session.retrierFactory }
/// }
/// ```
/// However many calls need a fresh credential at once, and in however many processes, there is one refresh: within the
/// process a `RefreshCoordinator` sees to it, among processes the store's lock. What another process does, a refresh, a
/// sign-in, a sign-out, is noticed before the next attempt.
///
/// Shared by reference: one for each account.
public final class OAuthSession: Sendable {
    /// How an expired credential is replaced.
    public enum Renewal: Hashable, Sendable {
        /// By its refresh token (RFC 6749 §6).
        case refreshToken
        /// By asking for another one, which a client does for itself (RFC 6749 §4.4); nil for the server's own scope.
        case clientCredentials(scope: OAuthScope?)
    }

    /// Where credentials come from.
    public let endpoint: TokenEndpoint
    /// Under what the credential is kept in the store.
    public let key: CredentialKey
    let coordinator: RefreshCoordinator<OAuthCredential>
    let shared: SharedCredential
    private let broadcast = Broadcast<SessionEvent>(bufferLimit: 100)

    /// Creates a session. Nothing is read or sent before it is used.
    ///
    /// - Parameters:
    ///   - endpoint: Where credentials come from. Its clocks are the session's, too.
    ///   - store: Where the credential is kept. Default: in memory, so that nothing is written unless it is asked for.
    ///   - account: Whose session it is, where an app has several. Default: empty, for one account at a time.
    ///   - origins: Where the access token may be sent. Default: `CredentialOrigins.first`, where it is sent first; name
    ///     all origins of an API that has several.
    ///   - renewal: How an expired credential is replaced. Default: by its refresh token.
    ///   - sharing: How it shares the credential with other processes. Default: that of ``CredentialSharing``.
    ///   - limits: The bounds of refreshing. Default: those of `RefreshLimits`, but with a time limit of 90 s: the wait for
    ///     the lock, at most 30 s, and the request, at most 25 s and once more when its answer is lost, fit into it. So a
    ///     call without a deadline waits for its credential two minutes at most: 30 s, the patience, until the last refresh
    ///     begins that it waits for, and then for that one.
    ///   - random: Where jitter comes from. Default: the system's generator.
    ///   - observer: What is told when a refresh starts and ends. Default: nobody.
    public init(
        endpoint: TokenEndpoint,
        store: any CredentialStore = MemoryStore(),
        account: String = "",
        origins: CredentialOrigins = .first,
        renewal: Renewal = .refreshToken,
        sharing: CredentialSharing = CredentialSharing(),
        limits: RefreshLimits = RefreshLimits(timeLimit: .seconds(90)),
        random: any RandomSource = SystemRandomSource(),
        observer: any CallObserver = NilCallObserver()
    ) {
        let key = CredentialKey(issuer: endpoint.server.issuer, client: endpoint.client.id, account: account)
        let shared = SharedCredential(
            store: SharedStore(store: store, key: key, clock: endpoint.clock, random: random, sharing: sharing),
            endpoint: endpoint,
            renewal: renewal,
            report: { [broadcast] in broadcast.send($0) }
        )
        let coordinator = RefreshCoordinator<OAuthCredential>(
            lifetime: { [wallClock = endpoint.wallClock] in $0.remainingLifetime(at: wallClock()) },
            origins: origins,
            limits: limits,
            clock: endpoint.clock,
            random: random,
            observer: observer,
            listener: { [broadcast] in broadcast.send(SessionEvent($0)) },
            refresh: { [shared] in try await shared.refresh($0) }
        )
        shared.attach(coordinator)
        self.endpoint = endpoint
        self.key = key
        self.coordinator = coordinator
        self.shared = shared
    }

    /// Authorizes every attempt, refreshes once for all, and retries with backoff what passes with time, but not while a
    /// refresh is in flight. For other retriers than the default `BackoffRetrier`, compose ``authorization`` with them.
    public var retrierFactory: any RetrierFactory {
        ComposedRetrier.factory(authorization, BackoffRetrier.factory(gate: gate))
    }

    /// Authorizes every attempt and refreshes once for all, and nothing else: to be composed with other retriers.
    public var authorization: any RetrierFactory { OAuthRetrier.factory(self) }

    /// What holds back retries while a refresh is in flight, or while an origin has asked for a pause.
    public var gate: any RetryGate { coordinator }

    /// `Authorization` as of now, for code that sends its own requests; empty when nobody is signed in. It does not look
    /// at the store and refreshes nothing: prefer ``grant(continuing:)``.
    public var header: HttpHeader {
        coordinator.current.map { [.authorization: "Bearer \($0.credential.accessToken)"] } ?? [:]
    }

    /// Whether somebody is signed in, as far as this process has seen; ``restore()`` looks at the store first.
    public var isSignedIn: Bool { coordinator.current != nil }

    /// What happens to the session from now on: a new stream for each access, any number at a time.
    ///
    /// A stream keeps the latest 100 events for a slow reader, and ends with the session.
    public var events: AsyncStream<SessionEvent> { broadcast.stream() }

    /// What happens to the session, from the latest event on, for a listener that comes late; otherwise as ``events``.
    ///
    /// - Parameter replaysLatest: Whether the stream begins with the event that happened last, if any has.
    public func events(replayingLatest replaysLatest: Bool) -> AsyncStream<SessionEvent> {
        broadcast.stream(replayingLatest: replaysLatest)
    }
}

extension OAuthSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The issuer and the state of the session; never a credential, nor the account's name.
    public var description: String { "OAuthSession(\(key.issuer), \(coordinator))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["session": description]) }
}
