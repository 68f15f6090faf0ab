import Nautilus
import TestSupport
import Testing

@Suite("A budget with a bucket of tokens")
struct TokenBucketBudgetTests {
    /// How many retries are allowed in a row.
    private func drain(_ budget: TokenBucketBudget) -> Int {
        var count = 0
        while count < 1_000_000, budget.spend() { count += 1 }
        return count
    }

    @Test(
        "retries are refused at half of the bucket and below",
        arguments: [(0, 0), (1, 1), (2, 1), (3, 2), (10, 5), (11, 6), (1000, 500)]
    )
    func half(capacity: Int, retries: Int) {
        let budget = TokenBucketBudget(capacity: capacity)
        #expect(drain(budget) == retries)
        #expect(budget.balance == Double(capacity - retries))
    }

    @Test("a retry takes a token, a success brings a tenth, and a refusal takes nothing")
    func amounts() {
        let budget = TokenBucketBudget(depositOfSuccess: 0.1)
        #expect(budget.spend())
        #expect(budget.balance == 9)
        budget.deposit()
        #expect(budget.balance == 9.1)
        #expect(drain(budget) == 5)
        #expect(budget.balance == 4.1)
        #expect(!budget.spend())
        #expect(budget.balance == 4.1)
    }

    @Test(
        "a success gives back what its retry took, and not what a second send took",
        arguments: [(.failure, 1, 0), (.throttling, 1, 0), (.hedge, 0, 0), (.postponed, 0, 0.1), (.unavailable, 0, 1)]
            as [(RetryCost.Reason, Double, Double)]
    )
    func refund(reason: RetryCost.Reason, tokens: Double, requested: Double) {
        let budget = TokenBucketBudget(depositOfSuccess: 0)
        for _ in 1...2 {
            #expect(budget.spend())
            #expect(budget.spend(.unavailable))
        }
        #expect(budget.spend(reason))
        let before = (tokens: budget.balance, requested: budget.requestedBalance)
        budget.deposit(refunding: reason)
        #expect(budget.balance == before.tokens + tokens)
        #expect(budget.requestedBalance == before.requested + requested)
    }

    @Test(
        "requested retries may empty their bucket, from which a retry after a 429 takes a tenth of a token",
        arguments: [(.unavailable, 3), (.postponed, 30)] as [(RetryCost.Reason, Int)]
    )
    func requested(reason: RetryCost.Reason, retries: Int) {
        let budget = TokenBucketBudget(capacity: 3, depositOfSuccess: 1)
        for _ in 1...retries { #expect(budget.spend(reason)) }
        #expect(!budget.spend(reason))
        #expect((budget.requestedBalance, budget.balance) == (0, 3))
        budget.deposit()
        #expect(budget.requestedBalance == 1)
    }

    @Test("a retry takes a whole token: more than half of a bucket of one is too little")
    func wholeToken() {
        let budget = TokenBucketBudget(capacity: 1, depositOfSuccess: 0.6)
        #expect(budget.spend())
        budget.deposit()
        #expect(!budget.spend())
        budget.deposit()
        #expect(budget.spend())
    }

    @Test("after an outage every tenth success pays for a retry, exactly, however many there are")
    func longRun() {
        let budget = TokenBucketBudget(depositOfSuccess: 0.1)
        var retries = drain(budget)
        #expect(retries == 5)
        for _ in 1...1000 {
            budget.deposit()
            if budget.spend() { retries += 1 }
        }
        // One for the first success, which lifts the bucket above its half, and then one for each ten.
        #expect(retries == 5 + 100)
        #expect(budget.balance == 5)
    }

    @Test("the bucket never holds more than its capacity", arguments: [0.1, 0.7, 1, 10, 100, .infinity])
    func full(deposit: Double) {
        let budget = TokenBucketBudget(capacity: 10, depositOfSuccess: deposit)
        for _ in 1...200 { budget.deposit() }
        #expect(budget.balance == 10)
        #expect(budget.spend())
        budget.deposit()
        #expect(budget.balance == min(10, 9 + deposit))
    }

    @Test("by default a client makes five retries before it has had a success, and one for every five successes")
    func standard() {
        let budget = TokenBucketBudget()
        #expect(drain(budget) == 5)
        #expect(budget.balance == 5)
        budget.deposit()
        #expect(budget.balance == 5.2)
    }

    @Test("parameters that make no sense are cut to ones that do", arguments: [-1, -Double.infinity, .nan, 0.0004])
    func nonsense(deposit: Double) {
        let budget = TokenBucketBudget(capacity: 2, depositOfSuccess: deposit)
        #expect(budget.spend())
        for _ in 1...100 { budget.deposit() }
        #expect(budget.balance == 1)
        #expect(TokenBucketBudget(capacity: -5).balance == 0)
        #expect(TokenBucketBudget(capacity: .max).balance == 1_000_000)
    }
}
