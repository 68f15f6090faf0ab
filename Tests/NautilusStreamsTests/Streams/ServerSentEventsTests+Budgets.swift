import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

extension ServerSentEventsTests {
    @Test("no budget pays for a reconnect, whether the connection has served or not", arguments: [10, 9])
    func lasting(seconds: Int) async throws {
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
            #expect(budget.balance == 10)
        }
    }

    @Test("an empty budget ends no stream, and no reconnect is refused")
    func emptyBudget() async throws {
        let transport = ScriptedTransport(Self.events("data: a\n\n"), Self.events(""), .status(503), .status(204))
        try await simulate { simulation in
            let service = AnyHttpService(
                apiUrl: "a.com",
                retrierFactory: BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = .constant(.zero)
                        $0.budget = .shared(TokenBucketBudget(capacity: 0))
                    }
                ),
                transport: transport,
                clock: simulation.clock
            )
            for try await _ in Ping.get.events(with: service) {}
        }
        #expect(transport.count == 4)
    }
}
