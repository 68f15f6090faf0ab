import Foundation
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Budgets by origin")
struct OriginBudgetsTests {
    @Test("an origin has one budget, and another port or scheme is another origin")
    func identity() throws {
        let budgets = OriginBudgets { _ in QuotaBudget(capacity: 14) }
        #expect(try budgets.budget(of: testOrigin("https://api.example.com/notes")).spend())
        #expect(try !budgets.budget(of: testOrigin("https://API.example.com:443/pages")).spend())
        #expect(try budgets.budget(of: testOrigin("https://api.example.com:8443")).spend())
        #expect(try budgets.budget(of: testOrigin("http://api.example.com")).spend())
        #expect(budgets.count == 3)
    }

    @Test("a budget is made for its origin")
    func made() throws {
        let budgets = OriginBudgets { QuotaBudget(capacity: $0.host == "large.test" ? 28 : 14) }
        let large = try budgets.budget(of: testOrigin("https://large.test"))
        let small = try budgets.budget(of: testOrigin("https://small.test"))
        #expect([large.spend(), large.spend(), large.spend()] == [true, true, false])
        #expect([small.spend(), small.spend()] == [true, false])
    }

    private func origin(_ number: Int) throws -> HttpOrigin { try testOrigin("https://\(number).test") }

    @Test("ever new origins make nobody forget a budget that is drawn on")
    func drawnOn() throws {
        let budgets = OriginBudgets(limit: 10) { _ in TokenBucketBudget(depositOfSuccess: 0.1) }
        let failing = try testOrigin("https://failing.test")
        for _ in 0..<5 { #expect(budgets.budget(of: failing).spend()) }
        for number in 0..<10_000 { _ = try budgets.budget(of: origin(number)) }
        #expect(!budgets.budget(of: failing).spend())
        #expect(budgets.count == 10)
    }

    @Test("the budget of an origin that is no longer used is dropped when its place is needed")
    func recovered() throws {
        let made = Counter()
        let budgets = OriginBudgets(limit: 2) { _ in
            made.increment()
            return QuotaBudget(capacity: 14)
        }
        let (first, second, third) = (try origin(1), try origin(2), try origin(3))
        #expect([first, second].map { budgets.budget(of: $0).spend() } == [true, true])
        budgets.budget(of: first).deposit(refunding: .failure)
        #expect(budgets.budget(of: third).spend())
        #expect(!budgets.budget(of: second).spend())
        #expect(!budgets.budget(of: third).spend())
        #expect(made.value == 3)
    }

    @Test(
        "C18: when all are drawn on, the others share one: ten thousand failing origins do not make fifty thousand retries"
    )
    func overflow() throws {
        let budgets = OriginBudgets(limit: 10) { _ in TokenBucketBudget(depositOfSuccess: 0.1) }
        var retries = 0
        for number in 0..<10_000 {
            for _ in 0..<10 where try budgets.budget(of: origin(number)).spend() { retries += 1 }
        }
        #expect(retries == 10 * 5 + 5)
        #expect(budgets.count == 10)
        // They have one budget, and their successes fill it.
        for number in 9_000..<9_010 { try budgets.budget(of: origin(number)).deposit() }
        #expect(try budgets.budget(of: origin(9_999)).spend())
        #expect(try !budgets.budget(of: origin(9_998)).spend())
    }

    @Test("a budget of one's own that says nothing of itself is kept")
    func own() throws {
        final class Own: RetryBudget {
            func withdraw(_ reason: RetryCost.Reason) -> Bool { false }
            func deposit(refunding reason: RetryCost.Reason?) {}
        }
        let budgets = OriginBudgets(limit: 2) { _ in Own() }
        let first = try budgets.budget(of: origin(0))
        for number in 1..<100 { _ = try budgets.budget(of: origin(number)) }
        #expect(try budgets.budget(of: origin(0)) === first)
        #expect(try budgets.budget(of: origin(98)) === budgets.budget(of: origin(99)))
    }

    @Test("a budget is drawn on for as long as it allows fewer retries than a new one", arguments: 0..<3)
    func isDrawnOn(kind: Int) throws {
        let clock = ManualClock()
        let budget: any RetryBudget = [
            TokenBucketBudget(depositOfSuccess: 1), QuotaBudget(initial: 100), RatioBudget(clock: clock),
        ][kind]
        #expect(!budget.isDrawnOn)
        budget.deposit()
        #expect(!budget.isDrawnOn)
        for _ in 0..<2 { #expect(budget.spend()) }
        #expect(budget.isDrawnOn)
        if kind == 2 { clock.advance(by: .seconds(10)) }
        for _ in 0..<2 { budget.deposit(refunding: .failure) }
        #expect(!budget.isDrawnOn)
    }

    /// Budgets of one retry each.
    private func single(limit: Int) -> OriginBudgets { OriginBudgets(limit: limit) { _ in QuotaBudget(capacity: 14) } }

    @Test("of those that are not drawn on, the budget that was longest not asked for is forgotten")
    func leastRecent() throws {
        let budgets = single(limit: 2)
        let (first, second) = try (budgets.budget(of: origin(1)), budgets.budget(of: origin(2)))
        #expect(try budgets.budget(of: origin(1)) === first)
        _ = try budgets.budget(of: origin(3))
        #expect(try budgets.budget(of: origin(1)) === first)
        #expect(try budgets.budget(of: origin(2)) !== second)
    }

    @Test(
        "each search for a budget to forget goes on behind those that the one before found drawn on",
        arguments: 0...1
    )
    func search(searches: Int) throws {
        let budgets = single(limit: 10)
        let known = try (0..<10).map { try budgets.budget(of: origin($0)) }
        for budget in known { #expect(budget.spend()) }
        // The first eight are examined, then the other two and the first six.
        let shared = try budgets.budget(of: origin(10))
        if searches == 1 { #expect(try budgets.budget(of: origin(11)) === shared) }
        known[searches == 0 ? 8 : 6].deposit(refunding: .failure)
        let own = try budgets.budget(of: origin(12))
        #expect(own !== shared)
        #expect(try budgets.budget(of: origin(12)) === own)
        #expect(try budgets.budget(of: origin(10)) === shared)
        #expect(budgets.count == 10)
    }

    @Test("two first calls at once have one budget, and so have two origins that are the first to share one")
    func atOnce() throws {
        let (registry, inner) = (Locked<OriginBudgets?>(nil), Locked<(HttpOrigin, (any RetryBudget)?)?>(nil))
        let budgets = OriginBudgets(limit: 1) { _ in
            // As another thread, while the budget is made.
            if case .some((let origin, nil)) = inner.withLock({ $0 }) {
                inner.withLock { $0 = nil }
                let budget = registry.withLock { $0 }?.budget(of: origin)
                inner.withLock { $0 = (origin, budget) }
            }
            return QuotaBudget(capacity: 14)
        }
        registry.withLock { $0 = budgets }
        for (number, other) in [(1, 1), (2, 3)] {
            inner.withLock { $0 = nil }
            let other = try origin(other)
            inner.withLock { $0 = (other, nil) }
            let outer = try budgets.budget(of: origin(number))
            #expect(inner.withLock { $0?.1 } === outer)
            _ = outer.spend()
        }
        registry.withLock { $0 = nil }
    }
}
