import Nautilus
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@Suite("Budgets that thousands of tasks share")
struct RetryBudgetStressTests {
    /// How many of `count` concurrent withdrawals are granted.
    private func granted(_ count: Int, by budget: any RetryBudget, deposits: Int = 0) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<max(count, deposits) {
                if index < deposits {
                    group.addTask {
                        budget.deposit(); return false
                    }
                }
                if index < count { group.addTask { budget.spend() } }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
    }

    @Test("concurrent withdrawals never overdraw, and grant exactly what there is")
    func withdrawals() async {
        let quota = QuotaBudget(capacity: 14_013)
        #expect(await granted(5000, by: quota) == 1000)
        #expect(quota.balance == 13)

        let bucket = TokenBucketBudget(capacity: 2000)
        #expect(await granted(5000, by: bucket) == 1000)
        #expect(bucket.balance == 1000)

        let ratio = RatioBudget(minimumRetriesPerSecond: 100, clock: ManualClock())
        #expect(await granted(5000, by: ratio) == 1000)
        #expect(ratio.balance == 0)
    }

    @Test("deposits among the withdrawals are all counted: what was granted and what is left is what there was")
    func deposits() async {
        let quota = QuotaBudget(capacity: 1_000_000, initial: 1400)
        let fromQuota = await granted(5000, by: quota, deposits: 5000)
        #expect(quota.balance == 1400 + 5000 - 14 * fromQuota)
        #expect(quota.balance >= 0)

        let ratio = RatioBudget(ratio: 0.5, minimumRetriesPerSecond: 10, clock: ManualClock())
        let fromRatio = await granted(5000, by: ratio, deposits: 5000)
        #expect(ratio.balance == 100 + 2500 - Double(fromRatio))
        #expect(ratio.balance >= 0)

        // Large enough that no deposit is cut.
        let bucket = TokenBucketBudget(capacity: 20_000, depositOfSuccess: 0.5)
        #expect(await granted(10_000, by: bucket) == 10_000)
        let fromBucket = await granted(5000, by: bucket, deposits: 5000)
        #expect(bucket.balance == 10_000 + 2500 - Double(fromBucket))
        #expect(bucket.balance > 9999)
    }

    @Test("tasks that meet an origin at once get one budget")
    func registry() async throws {
        let budgets = OriginBudgets { _ in QuotaBudget(capacity: 14_000) }
        let origin = try testOrigin()
        let count = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<5000 { group.addTask { budgets.budget(of: origin).spend() } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(count == 1000)
    }
}
