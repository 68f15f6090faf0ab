import Foundation
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

/// A queue can be long: who has signed out does not wait at its end for an error.
@Suite("Requests that queue when their session ends")
struct QueueSessionTests {
    enum Queue: CaseIterable, Sendable {
        case pacing, limit

        func make(_ clock: ManualClock) -> any HttpInterceptor {
            switch self {
            case .pacing: Pacing(rate: .requests(1, per: .seconds(20)), clock: clock)
            case .limit: ConcurrencyLimit(1)
            }
        }
    }

    private struct Foreign: Request {
        typealias Result = String
        var route: HttpRoute { [] }
        var url: (any UrlConvertible)? { "files.example.org/a" }
    }

    /// Starts two requests, of which the second one waits for 20 s, and signs out after 5 s.
    ///
    /// - Parameter isKnown: Whether anything is known of the session when they begin.
    private func ends(of request: some Request<String>, in queue: Queue, isKnown: Bool = true) async throws -> (
        error: HttpError?, time: Duration, sent: Int
    ) {
        try await simulate { simulation in
            let clock = simulation.clock
            let coordinator = RefreshCoordinator(credential: isKnown ? Token(number: 1) : nil, clock: clock) { _ in
                throw RefreshError.Terminal("invalid_grant")
            }
            let transport = ScriptedTransport(clock: clock) { _, _ in .delay(.seconds(20), then: .status(200)) }
            let service = AnyHttpService<HttpError>(
                apiUrl: "api.example.com",
                interceptors: [queue.make(clock)],
                retrierFactory: AuthorizationRetrier.factory(coordinator),
                transport: transport,
                clock: clock
            )
            async let first = request.result(with: service.anonymous)
            try await transport.waitForAttempts(count: 1)
            async let second = request.result(with: service)
            try await clock.sleep(for: .seconds(5))
            coordinator.signOut()
            let error = await second.error
            let time = clock.now.offset
            _ = await first
            return (error, time, transport.count)
        }
    }

    @Test(
        "a request that waits in a queue leaves it at once, and unsent, when its user signs out",
        arguments: Queue.allCases,
        [true, false]
    )
    func signedOut(queue: Queue, isKnown: Bool) async throws {
        let (error, time, sent) = try await ends(of: Ping(), in: queue, isKnown: isKnown)
        #expect(error?.requiresSignIn == true)
        #expect(error?.delivery == .notSent)
        #expect(time == .seconds(5))
        #expect(sent == 1)
    }

    @Test("a slot that is given in the moment of the sign-out is given back")
    func sameMoment() async throws {
        for seed in 0..<40 as Range<UInt64> {
            try await simulate(seed: seed) { simulation in
                let clock = simulation.clock
                let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: clock) { $0 }
                let transport = ScriptedTransport(clock: clock) { _, _ in .delay(.seconds(1), then: .status(200)) }
                let limit = ConcurrencyLimit(2)
                let service = AnyHttpService<HttpError>(
                    apiUrl: "api.example.com",
                    interceptors: [limit],
                    retrierFactory: AuthorizationRetrier.factory(coordinator),
                    transport: transport,
                    clock: clock
                )
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<6 { group.addTask { _ = await Ping().result(with: service) } }
                    group.addTask {
                        try? await clock.sleep(for: .seconds(1))
                        coordinator.signOut()
                    }
                }
                let origin = try #require(transport.attempts.first?.request.origin)
                #expect(limit.underWayCount(to: origin) == 0)
                #expect(limit.waitingCount(for: origin) == 0)
            }
        }
    }

    /// Has a credential only if somebody was signed in when the call began.
    private struct OptionalRetrier: Retrier {
        let credentials: [any CallCredential]

        init(_ coordinator: RefreshCoordinator<Token>) {
            let authorizer = CallAuthorizer(coordinator) { $1.header[.authorization] = "\($0.number)" }
            credentials = coordinator.current == nil ? [] : [authorizer]
        }

        mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { false }
    }

    @Test("a request without a credential keeps waiting in a queue when somebody signs in", arguments: Queue.allCases)
    func nobody(queue: Queue) async throws {
        let (error, time, sent) = try await simulate { simulation in
            let clock = simulation.clock
            let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: clock) { $0 }
            coordinator.signOut()
            let transport = ScriptedTransport(clock: clock) { _, _ in .delay(.seconds(20), then: .status(200)) }
            let service = AnyHttpService<HttpError>(
                apiUrl: "api.example.com",
                interceptors: [queue.make(clock)],
                retrierFactory: AnyRetrierFactory { OptionalRetrier(coordinator) },
                transport: transport,
                clock: clock
            )
            async let first = Ping().result(with: service.anonymous)
            try await transport.waitForAttempts(count: 1)
            async let second = Ping().result(with: service)
            try await clock.sleep(for: .seconds(5))
            coordinator.signIn(Token(number: 2))
            let error = await second.error
            _ = await first
            return (error, clock.now.offset, transport.attempts.map { $0.header[.authorization] })
        }
        #expect(error == nil)
        #expect(time >= .seconds(40))
        #expect(sent == [nil, nil])
    }

    @Test("a request to another origin, which gets no credential, also leaves a queue", arguments: Queue.allCases)
    func foreign(queue: Queue) async throws {
        let (error, time, sent) = try await ends(of: Foreign(), in: queue)
        #expect(error?.requiresSignIn == true)
        #expect(error?.delivery == .notSent)
        #expect(time == .seconds(5))
        #expect(sent == 1)
    }
}
