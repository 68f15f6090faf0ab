import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("RequestCoalescing: calls that wait for another to come again", .endsInTime)
struct CoalescingReturnTests {
    /// Fifty calls whose credential is refused, something that is sent while it is refreshed, and as many that come
    /// later.
    private static func refused(
        _ simulation: Simulated,
        postsInRefresh: Bool = false,
        meanwhile: @escaping @Sendable (AnyHttpService<HttpError>) async -> Void = { _ in }
    ) async throws -> (outcomes: [String: Int], gets: Int) {
        let (clock, coalescing) = (simulation.clock, RequestCoalescing(accounts: .separate { _ in "anna" }))
        let transport = ScriptedTransport(clock: clock) { request, _ in
            guard request.method == .get else { return .delay(.milliseconds(10), then: .status(204)) }
            let isFresh = request.header[.authorization] == "Bearer token-2"
            return .delay(.milliseconds(100), then: isFresh ? .reply(text: "ok") : .status(401))
        }
        let plain = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [coalescing],
            transport: transport,
            clock: clock
        )
        let coordinator = RefreshCoordinator(
            credential: Token(number: 1),
            clock: clock,
            random: simulation.random
        ) { _ in
            try await clock.sleep(for: .milliseconds(500))
            if postsInRefresh { _ = try await Ping.post.schedule(with: plain) }
            return Token(number: 2)
        }
        let service = plain.with { $0.retrierFactory = AuthorizationRetrier.factory(coordinator) }
        async let earlier = outcomes(of: 50, Ping.get, with: service)
        try await clock.sleep(for: .milliseconds(300))
        await meanwhile(plain)
        async let later = outcomes(of: 50, Ping.get, with: service)
        let all = await earlier.merging(later, uniquingKeysWith: +)
        #expect((coalescing.exchangeCount, coalescing.waitingCount) == (0, 0))
        return (all, transport.count(of: .get, "/things"))
    }

    @Test(
        "a POST while a credential is refreshed parts those who come later from the exchange under way",
        arguments: 0..<10
    )
    func postMeanwhile(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let end = try await Self.refused(simulation) { plain in
                _ = try? await Ping.post.schedule(with: plain)
            }
            #expect((end.outcomes, end.gets) == (["ok": 100], 3))
        }
    }

    @Test("a POST of the refresh itself parts no later call from the exchange under way", arguments: 0..<10)
    func postInRefresh(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let end = try await Self.refused(simulation, postsInRefresh: true)
            #expect((end.outcomes, end.gets) == (["ok": 100], 2))
        }
    }

    @Test("a request of a refresh is no change for an exchange that is under way beside it")
    func requestOfRefresh() async throws {
        try await simulate { simulation in
            let (clock, coalescing) = (simulation.clock, RequestCoalescing())
            let transport = ScriptedTransport(clock: clock) { request, _ in
                request.method == .get ? .delay(.seconds(5), then: .reply(text: "ok")) : .status(204)
            }
            let plain = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [coalescing],
                transport: transport,
                clock: clock
            )
            let coordinator = RefreshCoordinator<Token>(
                credential: Token(number: 1),
                lifetime: { _ in .zero },
                clock: clock,
                random: simulation.random
            ) { _ in
                _ = try await Ping.post.schedule(with: plain)
                return Token(number: 2)
            }
            async let first = outcome(of: Ping.get, with: plain)
            try await clock.sleep(for: .seconds(1))
            _ = try await coordinator.credential()
            async let second = outcome(of: Ping.get, with: plain)
            #expect(await [first, second] == ["ok", "ok"])
            #expect(transport.count(of: .get, "/things") == 1)
        }
    }

    @Test("a type that accepts a redirect is not given what it led another to")
    func followedRedirect() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in
                request.url.path == "/things"
                    ? .delay(.seconds(1), then: .status(302, header: ["Location": "/elsewhere"]))
                    : .reply(text: "elsewhere")
            }
            let service = AnyHttpService(coalescingOn: transport, clock)
            async let following = Ping.get.response(with: service)
            try await clock.sleep(for: .milliseconds(1))
            async let accepting = Ping(acceptedStatusCodes: 302).response(with: service)
            async let another = Ping(acceptedStatusCodes: 302).response(with: service)
            #expect(try await (following.body, accepting.status, another.status) == ("elsewhere", 302, 302))
            #expect(transport.count(of: .get, "/things") == 2)
        }
    }

    @Test("an urgent call that leaves costs no send where one goes on that is urgent enough for those that wait")
    func urgentLeaves() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { _, _ in .delay(.seconds(1), then: .reply(text: "ok")) }
            let service = AnyHttpService(coalescingOn: transport, clock)
            async let first = outcome(of: Ping.get, with: service)
            try await clock.sleep(for: .milliseconds(10))
            async let second = outcome(of: Ping.get, with: service)
            try await clock.sleep(for: .milliseconds(10))
            let urgent = Ping(deadline: .milliseconds(10), priority: .high)
            #expect(await outcome(of: urgent, with: service) == "the deadline of 10 ms passed")
            #expect(await [first, second] == ["ok", "ok"])
            #expect(transport.count == 2)
        }
    }
}
