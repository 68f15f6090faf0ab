import Nautilus
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@Suite("A budget in proportion to what succeeds")
struct RatioBudgetTests {
    private let clock = ManualClock()

    private func drain(_ budget: RatioBudget) -> Int {
        var count = 0
        while count < 100_000, budget.spend() { count += 1 }
        return count
    }

    @Test("ten successes pay for one retry, nine do not", arguments: [(9, 0), (10, 1), (19, 1), (20, 2), (1000, 100)])
    func ratio(successes: Int, retries: Int) {
        let budget = RatioBudget(minimumRetriesPerSecond: 0, clock: clock)
        for _ in 0..<successes { budget.deposit(refunding: successes % 2 == 0 ? .failure : nil) }
        #expect(drain(budget) == retries)
    }

    @Test("successes also pay for requested retries, which are counted separately")
    func requested() {
        let budget = RatioBudget(minimumRetriesPerSecond: 0, clock: clock)
        for _ in 0..<10 { budget.deposit() }
        #expect(budget.spend(.unavailable))
        #expect(!budget.spend(.unavailable))
        #expect(budget.balance == 1)
    }

    @Test("what the server has asked for by a 429 takes a tenth of a retry, and what pays for it expires as well")
    func postponed() {
        let budget = RatioBudget(ratio: 1, minimumRetriesPerSecond: 0, clock: clock)
        budget.deposit()
        #expect((1...11).filter { _ in budget.spend(.postponed) }.count == 10)
        #expect((budget.requestedBalance, budget.balance) == (0, 1))
        clock.advance(by: .seconds(1))
        budget.deposit()
        clock.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(budget.requestedBalance == 1)
        clock.advance(by: .nanoseconds(1))
        #expect(budget.requestedBalance == 0)
        #expect(!budget.spend(.postponed))
    }

    @Test("the minimum is there from the start, and once in every ten seconds")
    func minimum() {
        let budget = RatioBudget(minimumRetriesPerSecond: 0.5, clock: clock)
        #expect(drain(budget) == 5)
        clock.advance(by: .nanoseconds(9_999_999_999))
        #expect(drain(budget) == 0)
        clock.advance(by: .nanoseconds(1))
        #expect(drain(budget) == 5)
    }

    @Test(
        "a deposit expires when the tenth tenth after its own begins, to the nanosecond",
        arguments: [(0, 10), (1, 10), (999_999_999, 10), (1_000_000_000, 11)]
    )
    func expiry(nanoseconds: Int, end: Int) {
        let budget = RatioBudget(ratio: 1, minimumRetriesPerSecond: 0, clock: clock)
        clock.advance(by: .nanoseconds(nanoseconds))
        budget.deposit()
        clock.advance(to: .init(.seconds(end) - .nanoseconds(1)))
        #expect(budget.balance == 1)
        clock.advance(by: .nanoseconds(1))
        #expect(budget.balance == 0)
        #expect(!budget.spend())
    }

    @Test("an hour of successes does not pay for a storm: only the last seconds count")
    func nothingSaved() {
        let budget = RatioBudget(clock: clock)
        for _ in 0..<3600 {
            for _ in 0..<10 { budget.deposit() }
            clock.advance(by: .seconds(1))
        }
        // Nine whole seconds of ten successes, and the minimum of ten seconds.
        #expect(drain(budget) == 9 + 10)
    }

    @Test("a long silence empties all tenths, and the first withdrawal after it is a first one")
    func silence() {
        let budget = RatioBudget(ratio: 1, minimumRetriesPerSecond: 0.1, clock: clock)
        for _ in 0..<10 {
            budget.deposit()
            clock.advance(by: .seconds(1))
        }
        clock.advance(by: .seconds(1_000_000_000))
        #expect(budget.balance == 1)
        #expect(drain(budget) == 1)
    }

    @Test(
        "a ratio budget allows exactly what ratio and minimum say for the last ten tenths",
        arguments: 0..<20 as Range<UInt64>
    )
    func invariant(seed: UInt64) {
        let random = SeededRandomSource(seed: seed)
        let budget = RatioBudget(ratio: 0.2, minimumRetriesPerSecond: 0.3, clock: clock)
        // The tenth, which is a second, of each success and of each retry.
        var (successes, retries): ([Int64], [Int64]) = ([], [])
        for _ in 0..<2000 {
            clock.advance(by: .milliseconds(200) * random.nextFraction())
            let second = clock.now.offset.components.seconds
            if random.nextFraction() < 0.5 {
                budget.deposit()
                successes.append(second)
                continue
            }
            let paid = successes.filter { $0 > second - 10 }.count
            let made = retries.filter { $0 > second - 10 }.count
            let isAllowed = 10 * made + 10 <= 2 * paid + 30
            #expect(budget.spend() == isAllowed)
            if isAllowed { retries.append(second) }
        }
        #expect(retries.count > 50)
    }

    @Test("parameters that make no sense are cut to ones that do")
    func nonsense() {
        let none = RatioBudget(ratio: .nan, minimumRetriesPerSecond: -1, timeToLive: .zero, clock: clock)
        none.deposit()
        #expect(none.balance == 0)
        let most = RatioBudget(
            ratio: .infinity,
            minimumRetriesPerSecond: .infinity,
            timeToLive: .seconds(Int64.max),
            clock: clock
        )
        for _ in 0..<1000 { most.deposit() }
        #expect(most.spend())
        #expect(most.balance > 1_000_000)
    }
}
