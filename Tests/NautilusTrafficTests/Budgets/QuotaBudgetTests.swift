import Nautilus
import NautilusTraffic
import TestSupport
import Testing

@Suite("A budget with a quota")
struct QuotaBudgetTests {
    @Test(
        "a retry is refused when less than its cost is left, and the refusal takes nothing",
        arguments: [
            (13, RetryCost.Reason.failure, 13), (14, .failure, 0), (15, .failure, 1),
            (4, .throttling, 4), (5, .throttling, 0), (6, .throttling, 1),
        ]
    )
    func boundary(initial: Int, reason: RetryCost.Reason, left: Int) {
        let budget = QuotaBudget(initial: initial)
        #expect(budget.spend(reason) == (left != initial))
        #expect(budget.balance == left)
    }

    @Test(
        "a success brings what the last retry took, or 1, up to the capacity",
        arguments: [(nil, 101), (.throttling, 105), (.failure, 114)] as [(RetryCost.Reason?, Int)]
    )
    func deposit(reason: RetryCost.Reason?, balance: Int) {
        let budget = QuotaBudget(initial: 100)
        budget.deposit(refunding: reason)
        #expect(budget.balance == balance)
    }

    @Test("parameters that make no sense are cut to ones that do")
    func nonsense() {
        #expect(QuotaBudget(capacity: -1).balance == 0)
        #expect(QuotaBudget(initial: -1).balance == 0)
        #expect(QuotaBudget(capacity: 10, initial: 20).balance == 10)
        let free = QuotaBudget(initial: 0, cost: -14)
        #expect(free.spend())
        #expect(free.balance == 0)
        let most = QuotaBudget(capacity: .max, initial: .max, cost: .max)
        most.deposit(refunding: .failure)
        #expect(most.balance == .max)
    }
}
