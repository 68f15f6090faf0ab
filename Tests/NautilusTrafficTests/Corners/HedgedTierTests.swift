import Foundation
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Hedging and the guards around it", .endsInTime)
struct HedgedTierTests {
    private static func hedging(_ clock: ManualClock, after milliseconds: Int = 300) -> Hedging {
        Hedging(
            after: .fixed(.milliseconds(milliseconds)),
            latencies: OriginLatencies(clock: clock),
            budget: .unlimited
        )
    }

    @Test("an interceptor that sends again has no third send made beside it")
    func sentAgain() async throws {
        let again = OwnNetworkInterceptor { request, _, next in
            let first = try await next(request)
            return first.status == 503 ? try await next(request) : first
        }
        let run = try await hedged(
            .get,
            .status(503, after: 150),
            .ok("second", after: 10_000),
            .ok("again", after: 1_000),
            .ok("third", after: 10_000),
            interceptors: [again]
        )
        #expect(run.ends == ["503", "cancelled", "200"])
    }

    private final class Uploading: HttpTransport {
        let clock: ManualClock
        let starts = Locked<[Duration]>([])
        init(_ clock: ManualClock) { self.clock = clock }
        func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
            starts.withLock { $0.append(clock.now.offset) }
            guard request.method == .put else {
                try await clock.sleep(for: .seconds(10))
                return HttpResponse(status: 200, body: Data("ok".utf8))
            }
            context.noteBodyPart()
            try await clock.sleep(for: .seconds(100))
            return HttpResponse(status: 200, body: Data("ok".utf8))
        }
    }

    @Test("the wait in a queue counts neither for the timeout of a hedged upload nor for its delay")
    func timeout() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = Uploading(clock)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [ConcurrencyLimit(2), Self.hedging(clock)],
                transport: transport,
                clock: clock
            )
            for _ in 1...2 { simulation.start { _ = await Ping(allowsHedging: false).result(with: service) } }
            try await clock.sleep(for: .milliseconds(1))
            let result = await Ping(method: .put, body: .data(Data("body".utf8)), timeout: .seconds(1)).result(
                with: service
            )
            #expect(result.error?.kind == .timeout(.seconds(1)))
            #expect(clock.now.offset == .seconds(11))
            #expect(transport.starts.withLock { $0.last } == .milliseconds(10_300))
        }
    }

    @Test("the server is told the time that is left after the wait in a queue", arguments: [false, true])
    func timeLeft(isHedged: Bool) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { _, _ in .ok(after: 4_000) }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [ConcurrencyLimit(1), RequestTimeoutHeader()]
                    + (isHedged ? [Self.hedging(clock, after: 5_000)] : []),
                transport: transport,
                clock: clock
            )
            simulation.start { _ = await Ping.get.result(with: service) }
            try await clock.sleep(for: .seconds(1))
            _ = await Ping(deadline: .seconds(10)).result(with: service)
            #expect(transport.attempts.last?.header["X-Request-Timeout"] == "7000")
        }
    }

    @Test("a second send that is held back behind Pacing leaves its place to others")
    func place() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let pacing = Pacing(rate: .requests(3, per: .seconds(60)), clock: clock, random: simulation.random)
            let refusing = OwnNetworkInterceptor(networkStage: .refusing) { request, context, next in
                guard context.mayWait else { throw AttemptContext.WouldWait() }
                return try await next(request)
            }
            let transport = ScriptedTransport(clock: clock) { _, _ in .ok(after: 500) }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [pacing, refusing, Self.hedging(clock, after: 100)],
                transport: transport,
                clock: clock
            )
            for _ in 1...3 { _ = await Ping.get.result(with: service) }
            #expect(transport.attempts.map(\.start) == [.zero, .milliseconds(500), .seconds(1)])
        }
    }

    @Test("Pacing refuses at once what would wait past the deadline, also after a wait for the credential")
    func pastDeadline() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let world = TokenWorld(simulation, lifetime: .seconds(10), answer: { _, _ in .reply(text: "ok") }) {
                server,
                _ in
                try await server.issue(after: .seconds(20))
            }
            let pacing = Pacing(rate: .requests(1, per: .seconds(35)), clock: clock, random: simulation.random)
            let service = world.service.with { $0.interceptors = [pacing] }
            try await clock.sleep(for: .seconds(11))
            _ = await Ping.get.result(with: service.with { $0.retrierFactory = .never })
            let error = await Ping(deadline: .seconds(30)).result(with: service).error
            #expect(clock.now.offset == .seconds(31))
            if case .refused(.waitPastDeadline)? = error?.kind { return }
            Issue.record("\(String(describing: error))")
        }
    }
}
