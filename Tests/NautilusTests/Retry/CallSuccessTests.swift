import Foundation
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
}
