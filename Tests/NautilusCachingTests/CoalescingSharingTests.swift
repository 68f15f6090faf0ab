import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("RequestCoalescing: one answer for many calls", .endsInTime)
struct CoalescingSharingTests {
    /// Calls at once, and how they ended.
    private static func outcomes(
        of count: Int,
        _ request: Ping = .get,
        with service: AnyHttpService<HttpError>
    ) async -> [String: Int] {
        await withTaskGroup(of: String.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do throws(HttpError) {
                        return try await request.schedule(with: service)
                    } catch {
                        return "\(error.kind)"
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    private static func service(
        _ simulation: Simulated,
        _ transport: ScriptedTransport,
        _ interceptors: [any HttpInterceptor] = [RequestCoalescing()],
        retrier: any RetrierFactory = .never
    ) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: interceptors,
            retrierFactory: retrier,
            transport: transport,
            clock: simulation.clock
        )
    }

    // MARK: - Retries

    @Test(
        "C7: one 503 to a hundred calls is one retry: two requests, a hundred successes, paid for once",
        arguments: 0..<10
    )
    func oneRetry(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let transport = ScriptedTransport(clock: simulation.clock) { _, context in
                .delay(.seconds(1), then: context.number == 1 ? .status(503) : .reply(text: "ok"))
            }
            let budget = RetryAllowance(10)
            let service = Self.service(
                simulation,
                transport,
                retrier: BackoffRetrier.factory(
                    .standard.with {
                        $0.budget = .shared(budget)
                        $0.random = simulation.random
                    }
                )
            )
            #expect(await Self.outcomes(of: 100, with: service) == ["ok": 100])
            #expect(transport.count == 2)
            #expect(budget.balance == 9)
        }
    }

    @Test("C7: a lost connection is one retry, too")
    func lostConnection() async throws {
        try await simulate { simulation in
            let transport = ScriptedTransport(clock: simulation.clock) { _, context in
                .delay(.seconds(1), then: context.number == 1 ? .fail(.networkConnectionLost) : .reply(text: "ok"))
            }
            let service = Self.service(
                simulation,
                transport,
                retrier: BackoffRetrier.factory(
                    .standard.with {
                        $0.budget = .shared(TokenBucketBudget())
                        $0.random = simulation.random
                    }
                )
            )
            #expect(await Self.outcomes(of: 10, with: service) == ["ok": 10])
            #expect(transport.count == 2)
        }
    }

    // MARK: - Refused credentials

    @Test("C11: a hundred calls whose credential is refused are one exchange")
    func refused() async throws {
        try await simulate { simulation in
            let transport = ScriptedTransport(clock: simulation.clock) { _, _ in .delay(.seconds(1), then: .status(401))
            }
            let service = Self.service(simulation, transport)
            #expect(await Self.outcomes(of: 100, with: service) == ["status 401": 100])
            #expect(transport.count == 1)
        }
    }

    @Test(
        "C11: with a credential that can be refreshed, many calls are one refresh and two exchanges",
        arguments: 0..<10
    )
    func refreshed(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(simulation)
            let coalescing = RequestCoalescing(accounts: .separate { _ in "anna" })
            let service = world.service.with { $0.interceptors = [coalescing] }
            #expect(await Self.outcomes(of: 100, with: service) == ["ok": 100])
            #expect((world.server.refreshCount, world.transport.count) == (1, 2))
            #expect(simulation.clock.now.offset == .milliseconds(70))
            #expect((coalescing.exchangeCount, coalescing.waitingCount) == (0, 0))
        }
    }

    @Test("C11: if the leading call is cancelled or out of time during its refresh, another call leads")
    func leftWhileRefreshed() async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation)
            let coalescing = RequestCoalescing(accounts: .separate { _ in "anna" })
            let service = world.service.with { $0.interceptors = [coalescing] }
            async let hasty = Self.outcomes(of: 1, Ping(deadline: .milliseconds(20)), with: service)
            try await simulation.clock.sleep(for: .milliseconds(1))
            async let others = Self.outcomes(of: 9, with: service)
            #expect(await hasty == ["status 401": 1])
            #expect(coalescing.waitingCount == 8)
            #expect(await others == ["ok": 9])
            // One of them waits for the same refresh, and asks with what it brings.
            #expect((world.server.refreshCount, world.transport.count) == (1, 2))
        }
    }

    @Test("a request that a refresh makes does not wait for one that waits for the refresh")
    func withinRefresh() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { _, _ in .delay(.seconds(1), then: .reply(text: "ok")) }
            // By default, what a user asks for is not shared.
            let coalescing = RequestCoalescing(accounts: .separate { _ in "anna" })
            let plain = Self.service(simulation, transport, [coalescing])
            let coordinator = RefreshCoordinator(
                credential: Token(number: 1),
                lifetime: { $0.number == 1 ? .zero : nil },
                clock: clock,
                random: simulation.random
            ) { _ in
                _ = try await Ping.get.schedule(with: plain)
                return Token(number: 2)
            }
            // It leads, and waits for the refresh while it is authorized.
            let service = plain.with { $0.retrierFactory = AuthorizationRetrier.factory(coordinator) }
            let answer = try await Ping.get.schedule(with: service)
            #expect((answer, transport.count, clock.now.offset) == ("ok", 2, .seconds(2)))
        }
    }

    // MARK: - Urgency

    @Test("C16: an urgent call does not queue with one that is not urgent, and brings the answer for all")
    func urgent() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { _, _ in .delay(.seconds(1), then: .reply(text: "ok")) }
            let service = Self.service(simulation, transport, [RequestCoalescing(), ConcurrencyLimit(1)])
            // The calls that queue before the prefetch.
            async let before = Self.outcomes(of: 3, Ping(route: ["others"], header: ["X-Number": "1"]), with: service)
            try await clock.sleep(for: .milliseconds(1))
            async let more = Self.outcomes(of: 1, Ping(route: ["more"]), with: service)
            try await clock.sleep(for: .milliseconds(1))
            async let prefetch = Self.outcomes(of: 2, Ping(priority: .low), with: service)
            try await clock.sleep(for: .milliseconds(1))
            let start = clock.now
            #expect(await Self.outcomes(of: 5, Ping(priority: .high), with: service) == ["ok": 5])
            #expect(clock.now.offset - start.offset == .milliseconds(1_997))
            #expect(await prefetch == ["ok": 2])
            #expect(clock.now.offset - start.offset == .milliseconds(3_997))
            #expect(await (before, more) == (["ok": 3], ["ok": 1]))
            #expect(transport.count == 4)
        }
    }

    // MARK: - Changes by later stages

    @Test(
        "C5: calls whose requests an interceptor changes by what it knows of each go alone once the first has its answer",
        arguments: [("Accept-Language", 10, 2), ("Accept", 10, 2), ("X-Request-Id", 1, 1), ("Accept-Charset", 10, 2)]
            as [(HttpHeader.Name, Int, Int)]
    )
    func changed(name: HttpHeader.Name, exchanges: Int, seconds: Int) async throws {
        try await simulate { simulation in
            let (numbers, clock) = (Counter(), simulation.clock)
            let transport = ScriptedTransport(clock: clock) { request, _ in
                .delay(.seconds(1), then: .reply(text: request.header[name] ?? "-"))
            }
            let setting = Setting(name: name) { "\(numbers.increment())" }
            let service = Self.service(simulation, transport, [RequestCoalescing(), setting])
            let outcomes = await Self.outcomes(of: 10, with: service)
            #expect(outcomes.count == exchanges)
            #expect(transport.count == exchanges)
            #expect(clock.now.offset == .seconds(seconds))
            // Unless that makes no difference, says the user.
            let same = Self.service(simulation, transport, [RequestCoalescing(ignoring: [name]), setting])
            #expect(await Self.outcomes(of: 10, with: same).count == 1)
        }
    }

    @Test(
        "C5: an answer that varies by a field which is another on the wire is the first one's alone",
        arguments: [("X-Tenant", 10), ("x-tenant , Accept", 10), ("Accept", 1), ("", 1), ("X-Api-Key", 1)]
    )
    func varies(vary: String, exchanges: Int) async throws {
        try await simulate { simulation in
            let (numbers, clock) = (Counter(), simulation.clock)
            let transport = ScriptedTransport(clock: clock) { request, _ in
                .delay(.seconds(1), then: .reply(header: ["Vary": vary], text: request.header["X-Tenant"] ?? "-"))
            }
            let setting = Setting(name: "X-Tenant") { "\(numbers.increment())" }
            let key = Setting(name: "X-Api-Key") { "key" }
            let coalescing = RequestCoalescing(accounts: .separate { _ in "anna" })
            let service = Self.service(simulation, transport, [coalescing, setting, key])
            #expect(await Self.outcomes(of: 10, with: service).count == exchanges)
            #expect(transport.count == exchanges)
        }
    }

    @Test(
        "C5: calls whose URL or method a later interceptor changes send requests of their own",
        arguments: ["url", "method"]
    )
    func rewritten(what: String) async throws {
        try await simulate { simulation in
            let transport = ScriptedTransport(clock: simulation.clock) { _, _ in .delay(.seconds(1), then: .status(200))
            }
            let service = Self.service(simulation, transport, [RequestCoalescing(), Rewriting(what: what)])
            _ = await Self.outcomes(of: 3, with: service)
            #expect(transport.count == 3)
            #expect(simulation.clock.now.offset == .seconds(2))
        }
    }

    @Test("a failure of the first one's own, which is neither its end nor the network's, is found out by each")
    func ownFailure() async throws {
        struct Failure: Error {}
        try await simulate { simulation in
            let (numbers, clock) = (Counter(), simulation.clock)
            let transport = ScriptedTransport(clock: clock) { _, _ in .delay(.seconds(1), then: .reply(text: "ok")) }
            let failing = Passing {
                try await clock.sleep(for: .seconds(1))
                if numbers.increment() == 1 { throw Failure() }
            }
            let service = Self.service(simulation, transport, [RequestCoalescing(), failing])
            #expect(await Self.outcomes(of: 10, with: service)["ok"] == 9)
            #expect(simulation.clock.now.offset == .seconds(3))
        }
    }
}

/// Sets a field, another value each time perhaps.
private struct Setting: NetworkInterceptor {
    let name: HttpHeader.Name
    let value: @Sendable () -> String

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        var request = request
        request.header[name] = value()
        return try await next(request)
    }
}

/// Asks for something else than was asked for.
private struct Rewriting: NetworkInterceptor {
    let what: String

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        var request = request
        if what == "url" { request.url.appendPathComponent("more") } else { request.method = .head }
        return try await next(request)
    }
}

/// Does something before each request.
private struct Passing: NetworkInterceptor {
    let work: @Sendable () async throws -> Void

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        try await work()
        return try await next(request)
    }
}
