import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus

@Suite("What a success is told to")
struct CallSuccessTests {
    private static func answered() throws -> CallTrace.Exchange {
        let url = try #require(URL(string: "https://api.example.com/notes"))
        let summary = RequestSummary(HttpRequest(url: url), serviceOrigin: try #require(HttpOrigin(url)))
        return CallTrace.Exchange(
            call: 1,
            number: 1,
            root: 1,
            attempt: 1,
            role: .main,
            request: try #require(summary),
            start: .zero,
            duration: .zero,
            outcome: .answered(status: 200),
            delivery: .maybeExecuted
        )
    }

    @Test("each budget once, however many share it, and only the one that has paid gets it back")
    func deposits() throws {
        let (payer, other) = (QuotaBudget(), QuotaBudget())
        let permit = try #require(payer.withdraw(.failure))
        let others = try #require(other.withdraw(.failure))
        #expect((permit.use(), others.use()) == (true, true))
        let success = CallSuccess(answered: try Self.answered(), permits: [permit])
        for _ in 1...2 {
            success.deposit(in: payer)
            success.deposit(in: other)
        }
        #expect((payer.balance, other.balance) == (500, 487))
    }

    @Test("none when the server has not answered")
    func unanswered() throws {
        let budget = QuotaBudget(initial: 100)
        CallSuccess().deposit(in: budget)
        #expect(budget.balance == 100)
    }

    @Test("the latency of a call that was led on is that of the whole way, counted once")
    func redirected() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let latencies = OriginLatencies(minimumCount: 1, clock: clock)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: BackoffRetrier.factory(
                    .standard.with {
                        $0.budget = .unlimited
                        $0.latencies = latencies
                    }
                ),
                transport: ScriptedTransport(
                    .delay(.milliseconds(30), then: .status(302, header: ["Location": "/elsewhere"])),
                    .delay(.milliseconds(20), then: .reply(text: "ok")),
                    clock: clock
                ),
                clock: clock
            )
            let response = try await Ping.get.response(with: service)
            let origin = try #require(response.trace.request?.origin)
            #expect(latencies.median(of: origin) == .milliseconds(50))
        }
    }
}
