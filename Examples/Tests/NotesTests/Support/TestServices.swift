import DemoServers
import Nautilus
import NotesAPI

extension NotesService {
    /// A service for a server of a test: no delays, so that no test waits.
    static func test(
        _ environment: NotesEnvironment,
        token: Token? = nil,
        maxAttempts: Int = 4,
        clock: any Clock<Duration> = ContinuousClock(),
        observer: any CallObserver = NilCallObserver()
    ) throws -> NotesService {
        let service = NotesService(
            environment,
            backoff: .constant(.zero),
            maxAttempts: maxAttempts,
            transport: URLSessionTransport.wide,
            clock: clock,
            observer: observer
        )
        try service.signIn(token ?? .test(environment))
        return service
    }

    /// A service for a demo server, signed in with `pair`.
    static func test(
        _ server: DemoServer,
        _ pair: TokenPair,
        lifetime: Duration? = nil,
        maxAttempts: Int = 4,
        observer: any CallObserver = NilCallObserver()
    ) throws -> NotesService {
        let environment = NotesEnvironment(server)
        return try test(
            environment,
            token: Token(pair, lifetime: lifetime, environment: environment),
            maxAttempts: maxAttempts,
            observer: observer
        )
    }
}

extension URLSessionTransport {
    /// Has a connection for every call of a storm: a server that holds its answers until all calls have come would wait
    /// for ever for those that queue for a connection.
    static let wide = URLSessionTransport(configuration: .init(connectionsPerHost: 128))
}

extension NotesEnvironment {
    init(_ server: DemoServer) {
        self.init(name: server.environment, origin: server.origin)
    }

    init(_ server: StubServer) {
        self.init(name: "stub", origin: server.origin)
    }
}

extension Token {
    init(_ pair: TokenPair, lifetime: Duration?, environment: NotesEnvironment) {
        self.init(
            accessToken: pair.accessToken,
            refreshToken: pair.refreshToken,
            lifetime: lifetime,
            environment: environment
        )
    }

    /// A token that stub servers do not look at, unless the test says so.
    static func test(_ environment: NotesEnvironment) -> Token {
        Token(accessToken: "old", refreshToken: "first", lifetime: nil, environment: environment)
    }
}

/// A request without result, made of what a test needs.
struct Probe: Request {
    typealias Result = Void
    var method = HttpMethod.get
    var route: HttpRoute = ["probe"]
    var url: (any UrlConvertible)?
    var header: HttpHeader = [:]
    var body = HttpBody.empty
    var timeout: Duration?
    var deadline: Duration?
}

/// Tells a test of every event, as it comes.
struct EventFeed: CallObserver {
    let events: AsyncStream<CallEvent>
    private let continuation: AsyncStream<CallEvent>.Continuation

    init() {
        (events, continuation) = AsyncStream.makeStream()
    }

    func observe(_ event: CallEvent) {
        continuation.yield(event)
    }

    /// Returns once the first attempt of `count` calls of a request type has begun.
    func waitForCalls(of request: String, count: Int) async {
        var left = count
        for await event in events {
            if case .attemptStarted(request, number: 1) = event { left -= 1 }
            if left == 0 { return }
        }
    }
}

/// Runs `count` calls at once and returns how they went.
func concurrently<Success: Sendable>(
    _ count: Int,
    _ call: @escaping @Sendable (Int) async throws(NotesError) -> Success
) async -> [Result<Success, NotesError>] {
    await withTaskGroup(of: Result<Success, NotesError>.self) { group in
        for number in 0..<count {
            group.addTask {
                do throws(NotesError) { return .success(try await call(number)) } catch { return .failure(error) }
            }
        }
        return await group.reduce(into: []) { $0.append($1) }
    }
}

extension Array {
    func successes<Success, Failure: Error>() -> [Success] where Element == Result<Success, Failure> {
        compactMap { try? $0.get() }
    }

    func failures<Success, Failure: Error>() -> [Failure] where Element == Result<Success, Failure> {
        compactMap { if case .failure(let error) = $0 { error } else { nil } }
    }
}
