import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("One answer for several request types", .endsInTime)
struct RejectionSharingTests {
    private static func service(
        _ clock: ManualClock,
        _ transport: ScriptedTransport,
        _ interceptors: [any HttpInterceptor] = [RequestCoalescing(accounts: .separate { _ in "anna" })],
        retrier: any RetrierFactory = .never
    ) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: interceptors,
            retrierFactory: retrier,
            transport: transport,
            clock: clock
        )
    }

    private static func answering(_ text: String, _ clock: ManualClock) -> ScriptedTransport {
        ScriptedTransport(.delay(.seconds(1), then: .reply(text: text)), afterLast: .repeat, clock: clock)
    }

    @Test(
        "one type's word on an answer is not the other's, whichever of them has asked",
        arguments: ["error:503", "error:404", "error:429:2"],
        [false, true]
    )
    func twoTypes(text: String, wordedLeads: Bool) async throws {
        try await simulate { simulation in
            let transport = Self.answering(text, simulation.clock)
            let service = Self.service(simulation.clock, transport)
            async let first =
                wordedLeads
                ? outcome(of: WordedRequest(), with: service) : outcome(of: Ping.get, with: service)
            try await simulation.clock.sleep(for: .milliseconds(1))
            async let second =
                wordedLeads
                ? outcome(of: Ping.get, with: service) : outcome(of: WordedRequest(), with: service)
            let ends = await [first, second]
            let status = text.split(separator: ":")[1]
            #expect(ends == (wordedLeads ? ["status \(status)", text] : [text, "status \(status)"]))
            // Each type makes its own exchange.
            #expect(transport.count == 2)
        }
    }

    @Test("a type that accepts a 404, and makes one of a 200, reads it in each of its calls")
    func acceptedStatus() async throws {
        try await simulate { simulation in
            let transport = Self.answering("error:404", simulation.clock)
            let service = Self.service(simulation.clock, transport)
            let request = WordedRequest(acceptedStatusCodes: [.success, 404])
            #expect(await outcomes(of: 3, request, with: service) == ["error:404": 3])
            #expect(transport.count == 1)
        }
    }

    @Test("calls that read one answer as a failure make one retry of it, paid for once", arguments: 0..<10)
    func oneRetry(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let transport = ScriptedTransport(clock: simulation.clock) { _, context in
                .delay(.seconds(1), then: .reply(text: context.number == 1 ? "error:503" : "ok"))
            }
            let budget = RetryAllowance(10)
            let retrier = BackoffRetrier.factory(
                .standard.with {
                    $0.budget = .shared(budget)
                    $0.random = simulation.random
                }
            )
            let service = Self.service(simulation.clock, transport, retrier: retrier)
            #expect(await outcomes(of: 20, WordedRequest(), with: service) == ["ok": 20])
            #expect(transport.count == 2)
            #expect(budget.balance == 9)
        }
    }

    // MARK: - Refused credentials

    /// Calls whose credential is refused by a body; the first of them may be of a type that takes it gladly.
    private static func refused(
        _ simulation: Simulated,
        gladly: Bool
    ) async throws -> (outcomes: [String: Int], refreshes: Int, sends: Int) {
        let world = TokenWorld(
            simulation,
            answer: { _, isAccepted in .delay(.milliseconds(10), then: .reply(text: isAccepted ? "ok" : "error:401")) }
        )
        let coalescing = RequestCoalescing(accounts: .separate { _ in "anna" })
        let service = world.service.with { $0.interceptors = [coalescing] }
        async let first = gladly ? outcome(of: Ping.get, with: service) : ""
        try await simulation.clock.sleep(for: .milliseconds(1))
        let outcomes = await outcomes(of: 100, WordedRequest(), with: service)
        #expect(await first == (gladly ? "error:401" : ""))
        #expect((coalescing.exchangeCount, coalescing.waitingCount) == (0, 0))
        return (outcomes, world.server.refreshCount, world.transport.count)
    }

    @Test("a credential that a hundred calls read as refused is refreshed once for all of them", arguments: 0..<10)
    func sameType(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let end = try await Self.refused(simulation, gladly: false)
            #expect((end.outcomes, end.refreshes, end.sends) == (["ok": 100], 1, 2))
        }
    }

    @Test("a token refused in a shared answer is refreshed once, if the first call accepts it", arguments: 0..<10)
    func otherType(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let end = try await Self.refused(simulation, gladly: true)
            #expect((end.outcomes, end.refreshes, end.sends) == (["ok": 100], 1, 3))
        }
    }

    @Test("a credential that cannot be refreshed is one exchange to a hundred of them")
    func neverRefreshed() async throws {
        try await simulate { simulation in
            let transport = Self.answering("error:401", simulation.clock)
            let service = Self.service(simulation.clock, transport)
            #expect(await outcomes(of: 100, WordedRequest(), with: service) == ["status 401": 100])
            #expect(transport.count == 1)
        }
    }

    // MARK: - The cache

    @Test("a cache neither keeps what a type has rejected, nor loses by it what is stored", arguments: [404, 503])
    func cache(status: Int) async throws {
        let header: HttpHeader = ["Cache-Control": "max-age=1"]
        let world = CacheWorld.answering(
            .reply(header: header, text: "error:\(status)"),
            .reply(header: header, text: "good"),
            .reply(header: header, text: "error:\(status)"),
            .fail(.networkConnectionLost),
            staleIfError: .seconds(60)
        )
        #expect(await outcome(of: WordedRequest(), with: world.service) == "status \(status)")
        #expect(world.cache.responseCount == 0)
        #expect(await world.get() == "200 good")
        world.advance(2)
        // In the place of a 503 the stored one serves.
        let second = await outcome(of: WordedRequest(), with: world.service)
        #expect(second == (status == 503 ? "good" : "status 404"))
        #expect(await world.get() == "200 good age 2")
        #expect(world.transport.count == 4)
    }

    @Test(
        "a page that does not decode leaves what is stored as it was, whatever its header says",
        arguments: ["no-store", "no-cache", "max-age=60", "private"]
    )
    func undecodable(control: String) async throws {
        let world = CacheWorld.answering(
            .reply(header: ["Cache-Control": "max-age=1", "ETag": "\"1\""], text: "[1]"),
            .reply(header: ["Cache-Control": "\(control)"], text: "<html>sign in</html>"),
            .fail(.notConnectedToInternet),
            staleIfError: .seconds(600)
        )
        struct Numbers: JsonRequest {
            typealias Result = [Int]
            var route: HttpRoute { ["things"] }
        }
        #expect(try await Numbers().schedule(with: world.service) == [1])
        world.advance(10)
        let error = await #expect(throws: HttpError.self) { try await Numbers().schedule(with: world.service) }
        #expect(error?.kind == .decoding)
        #expect(world.cache.responseCount == 1)
        #expect(try await Numbers().schedule(with: world.service) == [1])
    }
}
