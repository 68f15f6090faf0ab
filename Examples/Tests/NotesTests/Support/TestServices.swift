import DemoServers
import Foundation
import Nautilus
import NautilusTesting
import NautilusURLSession
import NotesAPI

extension NotesService {
    /// A service for a server of a test: no delays, so that no test waits, and a clock that stands still, so that no call
    /// runs out of time on a machine that is busy with other tests.
    static func test(
        _ environment: NotesEnvironment,
        token: Token? = nil,
        maxAttempts: Int = 4,
        clock: any Clock<Duration> = ManualClock(),
        observer: any CallObserver = .none
    ) throws -> NotesService {
        let service = NotesService(
            environment,
            backoff: .constant(.zero),
            maxAttempts: maxAttempts,
            // The default is shared by the process, and a port may come back in another test.
            budget: .unlimited,
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
        clock: any Clock<Duration> = ManualClock(),
        observer: any CallObserver = .none
    ) throws -> NotesService {
        let environment = NotesEnvironment(server)
        return try test(
            environment,
            token: Token(pair, lifetime: lifetime, environment: environment),
            maxAttempts: maxAttempts,
            clock: clock,
            observer: observer
        )
    }
}

extension URLSessionTransport {
    /// Has a connection for every call of a storm: a server that holds its answers until all calls have come would wait
    /// for ever for those that queue for a connection.
    static let wide: URLSessionTransport = {
        raiseFileLimit()
        return URLSessionTransport(configuration: .init(connectionsPerHost: 128))
    }()

    /// Both ends of every connection are this process's: more open files than a shell on macOS allows (256).
    private static func raiseFileLimit() {
        #if canImport(Darwin)
            var limit = rlimit()
            guard getrlimit(RLIMIT_NOFILE, &limit) == 0 else { return }
            limit.rlim_cur = min(4_096, limit.rlim_max)
            setrlimit(RLIMIT_NOFILE, &limit)
        #endif
    }
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
