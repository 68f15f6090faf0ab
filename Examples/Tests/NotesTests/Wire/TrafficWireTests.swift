import DemoServers
import Foundation
import Nautilus
import NautilusTesting
import NautilusTraffic
import NautilusURLSession
import Testing

/// Server and client measure on one clock that stands still between the steps, so that no count depends on the machine.
@Suite("Pacing and breaker over real sockets", .timeLimit(.minutes(10)))
struct TrafficWireTests {
    private static func service(
        _ server: DemoServer,
        _ interceptors: [any HttpInterceptor],
        client: String = "app",
        clock: any Clock<Duration> = ContinuousClock(),
        retrier: any RetrierFactory = .never
    ) async -> AnyHttpService<HttpError> {
        let token = await server.signIn().accessToken
        return AnyHttpService(
            apiUrl: server.origin + "/v1",
            interceptors: interceptors,
            retrierFactory: retrier,
            transport: URLSessionTransport.wide,
            clock: clock
        ).with { $0.header = [.authorization: "Bearer \(token)", "X-Client": client] }
    }

    /// How many of some calls that are made at once succeed.
    private static func succeeded(_ count: Int, with service: AnyHttpService<HttpError>) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<count { group.addTask { (try? await NoteProbe().schedule(with: service)) != nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
    }

    /// Does something while the clock goes from sleeper to sleeper, but not while a request is under way.
    private static func moving<Value: Sendable>(
        _ clock: ManualClock,
        _ pacing: Pacing,
        _ calls: Present,
        _ work: @escaping @Sendable () async -> Value
    ) async -> Value {
        let hand = Task {
            while true {
                try await clock.waitForSleepers(count: 1)
                while await calls.count != pacing.waitingCount(for: calls.origin) { await Task.yield() }
                if let next = clock.nextDeadline { clock.advance(to: next) }
            }
        }
        defer { hand.cancel() }
        return await work()
    }

    @Test("once one answer has told of the limit, none of 40 calls at once is refused, and all succeed")
    func pacing() async throws {
        let clock = ManualClock()
        let limit = RequestLimit(requestsPerSecond: 2, burst: 4, clock: clock)
        let server = try await DemoServer.start(environment: "limited", limit: limit)
        let (pacing, calls) = (Pacing(clock: clock), try Present(server))
        let service = await Self.service(server, [calls, pacing])
        #expect(await Self.succeeded(1, with: service) == 1)
        #expect(await Self.moving(clock, pacing, calls) { await Self.succeeded(40, with: service) } == 40)
        let counters = await server.counters
        #expect((counters.requests, counters.admitted, counters.limited) == (41, 41, 0))
        // Five at the start, and two a second for the others.
        #expect(clock.now.offset >= .seconds(18))
        await server.stop()
    }

    @Test("without an answer before them, as many as the limit takes are served, and the others are refused once")
    func cold() async throws {
        let clock = ManualClock()
        let limit = RequestLimit(requestsPerSecond: 2, burst: 4, clock: clock)
        let server = try await DemoServer.start(environment: "limited", limit: limit)
        let retrier = BackoffRetrier.factory(
            .standard.with {
                $0.maxAttempts = 2
                $0.budget = .unlimited
            }
        )
        let (pacing, calls) = (Pacing(clock: clock), try Present(server))
        let service = await Self.service(
            server,
            [calls, pacing, Gathering(barrier: Barrier(opensAt: 12))],
            clock: clock,
            retrier: retrier
        )
        #expect(await Self.moving(clock, pacing, calls) { await Self.succeeded(12, with: service) } == 12)
        let counters = await server.counters
        #expect((counters.requests, counters.admitted, counters.limited) == (19, 12, 7))
        await server.stop()
    }

    @Test("without pacing, calls are refused once the burst is over")
    func unpaced() async throws {
        let limit = RequestLimit(requestsPerSecond: 2, burst: 4, clock: ManualClock())
        let server = try await DemoServer.start(environment: "limited", limit: limit)
        let service = await Self.service(server, [])
        #expect(await Self.succeeded(40, with: service) == 5)
        let other = await Self.service(server, [], client: "other")
        #expect(await Self.succeeded(40, with: other) == 5)
        let counters = await server.counters
        #expect((counters.requests, counters.admitted, counters.limited) == (80, 10, 70))
        #expect(counters.answers == [200: 10, 429: 70])
        await server.stop()
    }

    @Test("without nodelay, what is in excess is answered at the rate, to the nanosecond")
    func delaying() async throws {
        let clock = ManualClock()
        let limit = RequestLimit(requestsPerSecond: 2, burst: 4, isDelaying: true, status: 503, clock: clock)
        let server = try await DemoServer.start(environment: "limited", limit: limit)
        let service = await Self.service(server, [])
        async let succeeded = Self.succeeded(5, with: service)
        // The first is served.
        try await clock.waitForSleepers(count: 4)
        #expect(await Self.succeeded(1, with: service) == 0)
        #expect(clock.sleeps.sorted() == [.seconds(0.5), .seconds(1), .seconds(1.5), .seconds(2)])
        clock.advance(by: .seconds(2))
        #expect(await succeeded == 5)
        #expect(await server.counters.answers == [200: 5, 503: 1])
        await server.stop()
    }

    @Test("a server that is down sees what opens the circuit and then one probe for each pause, whoever calls")
    func breaker() async throws {
        let clock = ManualClock()
        let pause = Backoff.exponential(base: .seconds(5), jitter: .none)
        let breaker = CircuitBreaker(limits: CircuitLimits(minimumThroughput: 4, pause: pause), clock: clock)
        let server = try await DemoServer.start(environment: "failing")
        let service = await Self.service(server, [breaker])
        let origin = try #require(URL(string: server.origin).flatMap(HttpOrigin.init))
        await server.breakDown()
        for _ in 1...4 { #expect(await Self.succeeded(1, with: service) == 0) }
        #expect(breaker.state(of: origin) == .open(remaining: .seconds(5)))
        #expect(await Self.succeeded(20, with: service) == 0)
        #expect(await server.counters.requests == 4)

        for (probe, pause) in [(5, Duration.seconds(5)), (6, .seconds(10))] {
            clock.advance(by: pause)
            #expect(await Self.succeeded(20, with: service) == 0)
            #expect(await server.counters.requests == probe)
        }

        await server.recover()
        clock.advance(by: .seconds(20) - .nanoseconds(1))
        #expect(await Self.succeeded(20, with: service) == 0)
        #expect(await server.counters.requests == 6)
        clock.advance(by: .nanoseconds(1))
        #expect(await Self.succeeded(1, with: service) == 1)
        #expect(breaker.state(of: origin) == .closed)
        #expect(await Self.succeeded(20, with: service) == 20)
        #expect(await server.counters.answers == [503: 6, 200: 21])
        await server.stop()
    }

    @Test("without a breaker a server that is down sees every call")
    func unbroken() async throws {
        let server = try await DemoServer.start(environment: "failing")
        let service = await Self.service(server, [])
        await server.breakDown()
        #expect(await Self.succeeded(24, with: service) == 0)
        await server.recover()
        #expect(await Self.succeeded(1, with: service) == 1)
        #expect(await server.counters.answers == [503: 24, 200: 1])
        await server.stop()
    }
}

private struct NoteProbe: Request {
    typealias Result = Void
    var route: HttpRoute { ["notes", 1] }
}

/// Knows how many requests are past it: those that wait in the queue of a pacing behind it, and those that are under way.
private actor Present: NetworkInterceptor {
    nonisolated let origin: HttpOrigin
    nonisolated var networkStage: InterceptorTier.NetworkStage { .waitingForOthers }
    private(set) var count = 0

    init(_ server: DemoServer) throws {
        origin = try #require(URL(string: server.origin).flatMap(HttpOrigin.init))
    }

    nonisolated func intercept(
        _ request: HttpRequest,
        context: AttemptContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        await add(1)
        do {
            let response = try await next(request)
            await add(-1)
            return response
        } catch {
            await add(-1)
            throw error
        }
    }

    private func add(_ change: Int) { count += change }
}

/// Has first attempts go together, when all have come.
private struct Gathering: NetworkInterceptor {
    let barrier: Barrier

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        if context.number == 1 { await barrier.pass() }
        return try await next(request)
    }
}
