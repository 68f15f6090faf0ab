import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("RequestCoalescing", .endsInTime)
struct RequestCoalescingTests {
    /// Ten calls at once against a server that takes a second; how they ended, and how many exchanges there were.
    private static func storm(
        _ calls: [Ping] = Array(repeating: .get, count: 10),
        accounts: CacheAccounts = .anonymousOnly,
        ignoring: Set<HttpHeader.Name> = [],
        retrier: any RetrierFactory = .never,
        reply: @escaping @Sendable (_ number: Int) -> ScriptedReply = { .reply(text: "answer \($0)") }
    ) async throws -> (outcomes: [String: Int], exchanges: Int) {
        try await simulate { simulation in
            let (number, clock) = (Counter(), simulation.clock)
            let transport = ScriptedTransport(clock: clock) { _, _ in
                .delay(.seconds(1), then: reply(number.increment()))
            }
            let coalescing = RequestCoalescing(accounts: accounts, ignoring: ignoring)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [coalescing],
                retrierFactory: retrier,
                transport: transport,
                clock: clock
            )
            let outcomes = await withTaskGroup(of: String.self) { group in
                for call in calls {
                    group.addTask {
                        do throws(HttpError) {
                            return try await call.schedule(with: service)
                        } catch {
                            return "\(error.kind)"
                        }
                    }
                }
                return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect((coalescing.exchangeCount, coalescing.waitingCount) == (0, 0))
            return (outcomes, transport.count)
        }
    }

    /// Puts a secret on each request, after all interceptors have seen it.
    private static var authorizing: AnyRetrierFactory {
        .authorizing(with: WrittenCredential { $0.header[.authorization] = "Bearer secret" })
    }

    @Test("ten identical calls are one exchange, and each gets its answer")
    func identical() async throws {
        let (outcomes, exchanges) = try await Self.storm()
        #expect((outcomes, exchanges) == (["answer 1": 10], 1))
    }

    @Test(
        "requests that differ in URL, method, header or timeout are sent by themselves, and unsafe ones never wait",
        arguments: [
            ([Ping.get, Ping(route: ["others"])], 2), ([Ping.get, Ping(method: .head)], 2),
            ([Ping.get, Ping(header: ["Accept": "text/plain"])], 2), ([Ping.get, Ping(timeout: .seconds(9))], 2),
            ([Ping.post, Ping.post], 2), ([Ping(method: .delete), Ping(method: .delete)], 2),
            ([Ping(header: ["X-Number": "1"]), Ping(header: ["X-Number": "2"])], 1), ([Ping.get, Ping.get], 1),
            ([Ping(method: .head), Ping(method: .head)], 1),
        ]
    )
    func different(calls: [Ping], exchanges: Int) async throws {
        #expect(try await Self.storm(calls, ignoring: ["x-number"]).exchanges == exchanges)
    }

    @Test("an answer of any status is everybody's")
    func statuses() async throws {
        let shared = try await Self.storm { _ in .status(500) }
        #expect((shared.outcomes, shared.exchanges) == (["status 500": 10], 1))
        for status in [401, 407] {
            let unauthorized = try await Self.storm { $0 == 1 ? .status(status) : .reply(text: "ok") }
            #expect((unauthorized.outcomes, unauthorized.exchanges) == (["status \(status)": 10], 1))
        }
    }

    @Test("a failure of the network is everybody's, and each repeats it by its own retrier")
    func failures() async throws {
        let (outcomes, exchanges) = try await Self.storm(retrier: steadyBackoff()) {
            $0 == 1 ? .fail(.networkConnectionLost) : .reply(text: "answer \($0)")
        }
        // Without jitter they are back at the same moment.
        #expect((outcomes, exchanges) == (["answer 2": 10], 2))
    }

    @Test("a leader that is cancelled is followed by the one who has waited for longest, and the others get its answer")
    func cancelledLeader() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { _, _ in .delay(.seconds(10), then: .reply(text: "ok")) }
            let service = AnyHttpService(coalescingOn: transport, clock)
            let leader = BackgroundTask.start {
                await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: service) }
            }
            try await clock.sleep(for: .seconds(1))
            async let second = Ping.get.schedule(with: service)
            async let third = Ping.get.schedule(with: service)
            try await clock.sleep(for: .seconds(1))
            leader.cancel()
            await leader.value
            #expect(try await [second, third] == ["ok", "ok"])
            #expect(transport.attempts.map(\.start) == [.zero, .seconds(2)])
            #expect(clock.now.offset == .seconds(12))
        }
    }

    @Test("a follower waits until its own deadline, and the leader's is nobody else's")
    func deadlines() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { _, _ in .delay(.seconds(10), then: .reply(text: "ok")) }
            let service = AnyHttpService(coalescingOn: transport, clock)
            @Sendable func end(_ deadline: Duration?) async -> String {
                do throws(HttpError) {
                    return "\(try await Ping(deadline: deadline).schedule(with: service)) at \(clock.now.offset)"
                } catch {
                    return "\(error.kind) at \(clock.now.offset)"
                }
            }
            async let leader = end(.seconds(5))
            try await clock.sleep(for: .seconds(1))
            async let hasty = end(.seconds(2))
            async let patient = end(nil)
            #expect(await leader == "the deadline of 5 s passed at 5.0 seconds")
            #expect(await hasty == "the deadline of 2 s passed at 3.0 seconds")
            #expect(await patient == "ok at 15.0 seconds")
            #expect(transport.count == 2)
        }
    }

    @Test("accounts are kept apart, and without a word about them nobody gets an answer to another's credential")
    func accounts() async throws {
        let retrier = Self.authorizing
        #expect(try await Self.storm(retrier: retrier).exchanges == 10)
        #expect(try await Self.storm(accounts: .separate { _ in nil }, retrier: retrier).exchanges == 10)
        #expect(try await Self.storm(accounts: .separate { _ in "anna" }, retrier: retrier).exchanges == 1)
        let visible = Array(repeating: Ping(header: ["Authorization": "Bearer secret"]), count: 10)
        #expect(try await Self.storm(visible).exchanges == 10)
        #expect(try await Self.storm(visible, accounts: .separate { _ in "anna" }).exchanges == 1)
        let byUser = (0..<10).map { Ping(header: ["X-User": "\($0 % 2)"]) }
        let separate = CacheAccounts.separate { $0.header["X-User"] }
        #expect(try await Self.storm(byUser, accounts: separate, ignoring: ["X-User"], retrier: retrier).exchanges == 2)
    }

    @Test("a cache before it stores an answer to another's exchange only if it may store that exchange's")
    func cacheBefore() async throws {
        try await simulate { simulation in
            for (retrier, stored) in [(Self.authorizing, 0), (.never, 1)] {
                let world = CacheWorld(
                    clock: simulation.clock,
                    retrier: retrier,
                    inside: [RequestCoalescing(accounts: .separate { _ in "anna" })]
                ) { _, _ in
                    .delay(.seconds(1), then: .reply(header: ["Cache-Control": "max-age=60"], text: "one"))
                }
                await withTaskGroup(of: String.self) { group in
                    for _ in 0..<10 { group.addTask { await world.get() } }
                    for await answer in group { #expect(answer == "200 one") }
                }
                #expect((world.transport.count, world.cache.responseCount) == (1, stored))
            }
        }
    }

    @Test("a call that the leader's own makes does not wait for it, however far within")
    func nested() async throws {
        try await simulate { simulation in
            let (clock, coalescing) = (simulation.clock, RequestCoalescing())
            let transport = ScriptedTransport(clock: clock) { _, _ in .delay(.seconds(1), then: .reply(text: "ok")) }
            let plain = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [coalescing],
                transport: transport,
                clock: clock
            )
            let within = plain.with { $0.interceptors = [coalescing, Calling(service: plain)] }
            let service = plain.with { $0.interceptors = [coalescing, Calling(service: within)] }
            let answer = try await Ping.get.schedule(with: service)
            #expect((answer, transport.count) == ("ok", 3))
            #expect((coalescing.exchangeCount, coalescing.waitingCount) == (0, 0))
        }
    }
}

/// Makes the same call of its own first.
private struct Calling: CallInterceptor {
    let service: AnyHttpService<HttpError>

    func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
        _ = try await Ping.get.schedule(with: service)
        return try await next(request)
    }
}
