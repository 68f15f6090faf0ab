import Foundation
import Nautilus
import NautilusOAuth
import NautilusSessions
import NautilusTesting
import TestSupport

/// A server, a store, and any number of processes that share both, in virtual time.
///
/// A process is a session of its own on the same store, as another run of the program is.
struct SessionWorld: SimulatedWorld {
    let clock: ManualClock
    let random: SeededRandomSource
    let server: RotatingServer
    let store: UnreliableStore
    private let skew = Locked(Duration.zero)

    init(_ simulation: Simulated) { self.init(simulation, lifetime: .seconds(3600)) }

    /// - Parameter lifetime: How long a token serves; nil for ever.
    init(_ simulation: Simulated, lifetime: Duration?) {
        self.clock = simulation.clock
        self.random = simulation.random
        self.server = RotatingServer(clock: clock, lifetime: lifetime)
        self.store = UnreliableStore(clock: clock)
    }

    /// The wall clock of this machine, whose error a test chooses.
    var date: Date {
        Date(timeIntervalSince1970: 1_800_000_000 + (clock.now.offset + skew.withLock { $0 }) / .seconds(1))
    }

    /// Sets the wall clock wrong from now on.
    func setWallClockError(_ error: Duration) { skew.withLock { $0 = error } }

    /// A session as another process has it, which knows nothing of what has happened in the others.
    func process(
        account: String = "",
        store: (any CredentialStore)? = nil,
        sharing: CredentialSharing = CredentialSharing(),
        limits: RefreshLimits = RefreshLimits(timeLimit: .seconds(90)),
        endpointRetriers: any RetrierFactory = .never,
        rules: OAuthRules = .standard,
        client: OAuthClient = OAuthClient(id: "app"),
        observer: any CallObserver = .none
    ) -> OAuthSession {
        let endpoint = TokenEndpoint(
            server: AuthorizationServer(
                issuer: "https://id.test",
                tokenEndpoint: "https://id.test/token",
                revocationEndpoint: "https://id.test/revoke"
            ),
            client: client,
            rules: rules,
            transport: server.transport,
            retrierFactory: endpointRetriers,
            clock: clock,
            wallClock: { date }
        )
        return SimulatedProcess.$current.withValue(SimulatedProcess()) {
            OAuthSession(
                endpoint: endpoint,
                store: store ?? self.store,
                account: account,
                sharing: sharing,
                limits: limits,
                random: random,
                observer: observer
            )
        }
    }

    /// For tests that look at one refresh by itself: no call waits out a cool-down.
    static let impatient = RefreshLimits(timeLimit: .seconds(90), maxCoolDowns: 0)

    /// A process whose user is signed in.
    func signedIn(
        _ user: String = "anna",
        sharing: CredentialSharing = CredentialSharing(),
        limits: RefreshLimits = RefreshLimits(timeLimit: .seconds(90))
    ) async throws -> OAuthSession {
        let session = process(sharing: sharing, limits: limits)
        try await session.signIn(server.signIn(user, at: date))
        return session
    }

    /// One call, as its outcome.
    func call(_ session: OAuthSession, _ request: GetNotes = GetNotes()) async -> CallResult {
        let service = AnyHttpService(
            apiUrl: "api.test",
            retrierFactory: session.authorization,
            transport: server.transport,
            clock: clock
        )
        return await request.result(with: service)
    }

    /// One call of each session, all at once.
    func calls(_ sessions: [OAuthSession]) async -> [CallResult] {
        await atOnce(sessions.count) { await call(sessions[$0]) }
    }

    /// The stored credential of a session that the server has not ended.
    func stored(_ session: OAuthSession) async throws -> StoredCredential? {
        try await store.load(session.key).flatMap { $0.hasExpired ? nil : $0 }
    }

    /// Has a process that ignores the lock, an older version of the app say, replace the stored credential while the server
    /// works on the next refresh, which it answers with `reply`.
    func replace(_ session: OAuthSession, during reply: ScriptedReply) async throws {
        let (store, key, date) = (store, session.key, date)
        guard let stored = try await store.load(key) else { return }
        let other = OAuthCredential(accessToken: "anna-a1", refreshToken: "anna-r9", receivedAt: date)
        server.transport.on(.post, "/token") { _, _ in
            try await store.save(StoredCredential(session: stored.session, credential: other), for: key)
            return reply
        }
    }
}

struct GetNotes: Request {
    typealias Result = String
    /// Names one call of many; nil for a call that is alone.
    var id: String?
    var deadline: Duration?
    var route: HttpRoute { id.map { ["notes", $0] } ?? ["notes"] }
}

extension CallResult {
    /// The server's error that lies underneath, however deep.
    var oauthKind: OAuthError.Kind? { (authorizationError as? OAuthError)?.kind }

    /// The session's error that lies underneath, however deep.
    var sessionKind: SessionError.Kind? { (authorizationError as? SessionError)?.kind }

    private var authorizationError: (any Error)? {
        guard let refresh = error?.underlying as? RefreshError else { return error?.underlying }
        return switch refresh {
        case .failed(_, let cause), .coolingDown(_, let cause): cause
        case .sessionExpired(let cause): (cause as? RefreshError.Terminal)?.underlying
        default: nil
        }
    }
}

extension StoredCredential {
    /// The credential, of a record that has one.
    var credential: OAuthCredential {
        (try? credential()) ?? OAuthCredential(accessToken: "not decodable")
    }
}

extension SessionEvent {
    /// The event's name.
    var name: String { String("\(self)".prefix { $0 != "(" }) }
}
