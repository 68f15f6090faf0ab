import Foundation
import Nautilus

/// The token endpoint of an authorization server, and the ways to a credential that lead through it (RFC 6749).
///
/// ```swift
/// let endpoint = TokenEndpoint(server: server, client: OAuthClient(id: "notes-ios"))
/// let fresh = try await endpoint.refresh(credential)
/// ```
/// It keeps nothing: when to refresh, and where the credential is kept, is up to ``OAuthSession``.
///
/// Its requests are calls like any other, with two differences. A redirect is refused, since it would carry the form
/// with its secrets elsewhere. And no request has an `Idempotency-Key`, so that a `BackoffRetrier` repeats only what
/// certainly did not run: no connection, 429, 503 with `Retry-After`. A refresh whose answer is lost is not sent again,
/// since a server that rotates refresh tokens takes the second one for a theft and ends the session (RFC 9700 §4.14.2).
public struct TokenEndpoint: Sendable {
    /// The server that requests go to.
    public let server: AuthorizationServer
    /// The client that asks.
    public let client: OAuthClient

    let transport: any HttpTransport
    let retrierFactory: any RetrierFactory
    let clock: any Clock<Duration>
    let wallClock: @Sendable () -> Date
    let timeout: Duration
    let refreshTimeout: Duration
    let deadline: Duration
    /// The source of states and verifiers; replaced by tests only.
    var randomness = Randomness.system

    /// Creates an endpoint.
    ///
    /// - Parameters:
    ///   - server: The server that requests go to.
    ///   - client: The client that asks.
    ///   - transport: The transport that moves bytes. Default: the process's shared transport.
    ///   - retrierFactory: The retriers that repeat requests which certainly did not run. Default: backoff with 3
    ///     attempts: two retries, 1.5 s at most unless the server asks for more, still fit into the deadline.
    ///   - clock: The clock that measures time and sleeps. Default: `ContinuousClock`, since codes and tokens also
    ///     expire while the machine sleeps.
    ///   - wallClock: The clock that tells when a credential was received. Default: the system's.
    ///   - timeout: The time limit of one exchange that is no refresh. Default: 20 s: longer than any healthy server
    ///     takes, and a code that was spent in vain costs the user another sign-in.
    ///   - refreshTimeout: The time limit of one exchange of a refresh. Default: 7 s: after a silent connection, above
    ///     all one that died unnoticed, a session sends the token once more, and servers that grant a period of grace
    ///     grant 10 s at the least. 7 s, the pause of at most 1 s that ``CredentialSharing`` has, and 2 s for the store
    ///     and a new connection fit into them. A server without any grace that takes longer than this needs a longer
    ///     one.
    ///   - deadline: The time limit of a request with its retries. Default: 25 s: it has to end before the 30 s after
    ///     which a `RefreshCoordinator` gives a refresh up, so that its own error is reported.
    public init(
        server: AuthorizationServer,
        client: OAuthClient,
        transport: any HttpTransport = PlatformTransport.shared,
        retrierFactory: any RetrierFactory = BackoffRetrier.factory(maxAttempts: 3),
        clock: any Clock<Duration> = ContinuousClock(),
        wallClock: @escaping @Sendable () -> Date = { Date() },
        timeout: Duration = .seconds(20),
        refreshTimeout: Duration = .seconds(7),
        deadline: Duration = .seconds(25)
    ) {
        self.server = server
        self.client = client
        self.transport = transport
        self.retrierFactory = retrierFactory
        self.clock = clock
        self.wallClock = wallClock
        self.timeout = timeout
        self.refreshTimeout = refreshTimeout
        self.deadline = deadline
    }
}

extension TokenEndpoint: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Issuer and client; never a secret.
    public var description: String { "TokenEndpoint(\(server.issuer), \(client))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["endpoint": description]) }
}
