import FlyingFox
import FlyingSocks
import Foundation

/// A notes API on 127.0.0.1: bearer tokens, paging, idempotency keys, an OAuth authorization server with rotating
/// refresh tokens, and whatever goes wrong according to plan.
///
/// Each server is an environment of its own: it knows only the tokens that it issued.
public final class DemoServer: Sendable {
    /// Where a test makes answers wait; nil where it does not.
    public struct Barriers: Sendable {
        /// Every 401 waits here, decided but not yet sent.
        public var unauthorized: Barrier?
        /// Every request at the token endpoint waits here before its token is spent.
        public var refresh: Barrier?
        /// Every answer of the token endpoint waits here: the server has rotated by then, and nothing is sent yet.
        public var rotated: Barrier?

        /// Creates the barriers of a server; by default there are none.
        public init(unauthorized: Barrier? = nil, refresh: Barrier? = nil, rotated: Barrier? = nil) {
            self.unauthorized = unauthorized
            self.refresh = refresh
            self.rotated = rotated
        }
    }

    /// Why a server does not start.
    public struct StartFailure: Error, CustomStringConvertible {
        /// The system's message: `Address already in use`.
        public let reason: String
        let environment: String

        /// The failure in a sentence.
        public var description: String { "The \(environment) server does not listen on 127.0.0.1: \(reason)" }
    }

    /// The environment's name: `staging`, `production`.
    public let environment: String
    /// Scheme, host and port: `http://127.0.0.1:49152`.
    public let origin: String
    private let server: HTTPServer
    let backend: NotesBackend
    private let barriers: Barriers
    private let run: Task<Void, any Error>

    /// Starts a server, and returns once it accepts connections.
    ///
    /// - Parameters:
    ///   - environment: Stands in the tokens it issues.
    ///   - port: Where it listens. Default: 0, a port that the system chooses, which is always free.
    ///   - seed: The seed that the tokens are drawn from. Default: 0.
    ///   - plan: The faults that occur. Default: nothing.
    ///   - accessTokenLifetime: How long access tokens serve. Default: an hour, longer than any demo.
    ///   - noteCount: How many notes there are at the start. Default: 30, three pages.
    ///   - barriers: Where answers wait. Default: nowhere.
    ///   - clients: Those that may ask for tokens besides ``DemoClient/app`` and ``DemoClient/service``. Default: none.
    ///   - gracePeriod: How long a spent refresh token is answered with its successor again. Default: zero, never: a
    ///     second use ends the session at once, which shows what a client gets wrong.
    ///   - deviceRules: How devices wait for their user. Default: those of ``DemoDeviceRules``.
    ///   - limit: How many requests for notes are taken from each client. Default: nil, all of them.
    /// - Throws: ``StartFailure``.
    public static func start(
        environment: String,
        port: UInt16 = 0,
        seed: UInt64 = 0,
        plan: FaultPlan = .none,
        accessTokenLifetime: Duration = .seconds(3600),
        noteCount: Int = 30,
        barriers: Barriers = Barriers(),
        clients: [DemoClient] = [],
        gracePeriod: Duration = .zero,
        deviceRules: DemoDeviceRules = DemoDeviceRules(),
        limit: RequestLimit? = nil
    ) async throws -> DemoServer {
        var tokens = TokenAuthority(environment: environment, lifetime: accessTokenLifetime, seed: seed)
        tokens.gracePeriod = gracePeriod
        let backend = NotesBackend(
            authorizationServer: AuthorizationServer(
                tokens: tokens,
                codes: CodeAuthority(environment: environment, seed: seed),
                devices: DeviceAuthority(environment: environment, rules: deviceRules, seed: seed),
                clients: clients
            ),
            store: NoteStore(count: noteCount),
            plan: plan,
            limit: limit
        )
        let server = HTTPServer(
            address: try sockaddr_in.inet(ip4: "127.0.0.1", port: port),
            // Longer than any barrier holds a request on a busy machine: what is over time is answered by a 500.
            timeout: 600,
            logger: .disabled,
            handler: NotesHandler(backend: backend, barriers: barriers, limit: limit)
        )
        let listening = Task { try await server.waitUntilListening(timeout: 60) }
        let run = Task {
            // A port that is taken ends the run at once, and the server would never listen.
            defer { listening.cancel() }
            try await server.run()
        }
        do {
            try await listening.value
        } catch {
            run.cancel()
            throw StartFailure(reason: await run.failure ?? error.localizedDescription, environment: environment)
        }
        guard case .ip4(let address, let port)? = await server.listeningAddress else {
            run.cancel()
            throw StartFailure(reason: "it has no IPv4 address", environment: environment)
        }
        let origin = "http://\(address):\(port)"
        await backend.access { server, _ in server.origin = origin }
        return DemoServer(
            environment: environment,
            origin: origin,
            server: server,
            backend: backend,
            barriers: barriers,
            run: run
        )
    }

    private init(
        environment: String,
        origin: String,
        server: HTTPServer,
        backend: NotesBackend,
        barriers: Barriers,
        run: Task<Void, any Error>
    ) {
        self.environment = environment
        self.origin = origin
        self.server = server
        self.backend = backend
        self.barriers = barriers
        self.run = run
    }

    /// Closes the port and every connection, and returns once nothing runs any more.
    public func stop() async {
        await barriers.unauthorized?.open()
        await barriers.refresh?.open()
        await barriers.rotated?.open()
        await server.stop()
        run.cancel()
        _ = await run.result
    }

    /// The counters of what the server has seen up to now.
    public var counters: ServerCounters {
        get async { await backend.counters }
    }

    /// The titles of all notes, in no order: one that is there twice was created twice.
    public var titles: [String] {
        get async { await backend.titles }
    }
}

extension Task where Success == Void, Failure == any Error {
    /// Why it failed, in the system's words where they are to be had; nil when it did not.
    fileprivate var failure: String? {
        get async {
            guard case .failure(let error) = await result else { return nil }
            guard case SocketError.failed(_, _, let message) = error else { return error.localizedDescription }
            return message
        }
    }
}
