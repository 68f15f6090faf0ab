import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusStreams

extension ServerSentEventsTests {
    @Test("a connection has served that lasts for ten seconds without an event", arguments: [(10, 10), (9, 9)])
    func lasting(seconds: Int, balance: Double) async throws {
        try await simulate { simulation in
            let budget = TokenBucketBudget(capacity: 10, depositOfSuccess: 0)
            let transport = ScriptedTransport(
                .chunks(header: ["Content-Type": "text/event-stream"], [], pause: .seconds(seconds)),
                .status(204),
                clock: simulation.clock
            )
            let service = AnyHttpService(
                apiUrl: "a.com",
                retrierFactory: steadyBackoff(budget: .shared(budget)),
                transport: transport,
                clock: simulation.clock
            )
            for try await _ in Ping.get.events(with: service) {}
            #expect(transport.count == 2)
            #expect(budget.balance == balance)
        }
    }

    @Test(
        "what has not served is paid for when the next connection is made, not when none is",
        arguments: [false, true]
    )
    func paid(isCancelled: Bool) async throws {
        let budget = TokenBucketBudget(capacity: 10, depositOfSuccess: 0)
        let transport = ScriptedTransport(Self.events(""), .status(204), clock: clock)
        let service = AnyHttpService(
            apiUrl: "a.com",
            retrierFactory: steadyBackoff(budget: .shared(budget)),
            transport: transport,
            clock: clock
        )
        let reading = Task { for try await _ in Ping.get.events(with: service) {} }
        try await clock.waitForSleepers(count: 1)
        #expect(budget.balance == 9)
        if isCancelled { reading.cancel() } else { clock.advance(by: .milliseconds(500)) }
        _ = await reading.result
        #expect(transport.count == (isCancelled ? 1 : 2))
        #expect(budget.balance == (isCancelled ? 10 : 9))
    }

    @Test("an empty budget ends a stream whose connections do not serve, and no other")
    func emptyBudget() async throws {
        let transport = ScriptedTransport(Self.events("data: a\n\n"), Self.events(""), .status(204))
        let service = AnyHttpService(
            apiUrl: "a.com",
            retrierFactory: BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = .constant(.zero)
                    $0.budget = .shared(TokenBucketBudget(capacity: 0))
                }
            ),
            transport: transport,
            clock: clock
        )
        let error = await #expect(throws: HttpError.self) {
            for try await _ in Ping.get.events(with: service) {}
        }
        #expect(transport.count == 2)
        #expect(error?.trace.attempts.last?.decision?.reason == .budget)
    }
}
