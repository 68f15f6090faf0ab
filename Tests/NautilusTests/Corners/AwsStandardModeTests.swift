import Nautilus
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

/// Case A29: the vectors of the AWS SDKs' standard mode.
@Suite("The AWS SDKs' standard mode, made of backoff and quota")
struct AwsStandardModeTests {
    private struct Result {
        let outcome: Outcome
        /// The rest of the quota when each attempt began, and at the end: after each retry's withdrawal.
        let quotas: [Int]
    }

    /// Calls a server that answers with `statuses`, its last one for ever.
    private func call(
        _ statuses: Int...,
        quota: Int = 500,
        maxAttempts: Int = 3,
        cap: Duration = .seconds(20)
    ) async throws -> Result {
        let budget = QuotaBudget(initial: quota)
        let (left, quotas) = (Locked(statuses), Locked<[Int]>([]))
        let transport = ScriptedTransport { _, _ in
            quotas.withLock { $0.append(budget.balance) }
            return .status(left.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] })
        }
        let outcome = try await outcome(
            of: Ping.get,
            retrier: BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = .exponential(base: .milliseconds(50), cap: cap)
                    $0.throttlingBackoff = .exponential(base: .seconds(1), cap: cap)
                    $0.maxAttempts = maxAttempts
                    $0.budget = .shared(budget)
                    $0.random = FixedRandomSource(1)
                }
            ),
            transport
        )
        return Result(outcome: outcome, quotas: quotas.withLock { $0 } + [budget.balance])
    }

    @Test("A29: success after two retries gives the last one's cost back")
    func eventualSuccess() async throws {
        let result = try await call(500, 500, 200)
        #expect(result.outcome.response?.status == 200)
        #expect(result.outcome.delays == [.milliseconds(50), .milliseconds(100)])
        #expect(result.quotas == [500, 486, 472, 486])
    }

    @Test("A29: three failures end the call, and what its retries took is gone")
    func attemptsUsed() async throws {
        let result = try await call(502, 502, 502)
        #expect(result.outcome.error?.kind == .status(502))
        #expect(result.outcome.attempts == 3)
        #expect(result.outcome.lastReason == .attemptsUsed(3))
        #expect(result.quotas == [500, 486, 472, 472])
    }

    @Test("A29: a quota of 14 pays for one retry; the second is refused, and the last real error surfaces")
    func quotaUsed() async throws {
        let result = try await call(500, 502, quota: 14)
        #expect(result.outcome.error?.kind == .status(502))
        #expect(result.outcome.delays == [.milliseconds(50)])
        #expect(result.outcome.lastReason == .budget)
        #expect(result.quotas == [14, 0, 0])
    }

    @Test("A29: without quota a call does not wait")
    func noQuota() async throws {
        let result = try await call(500, quota: 0)
        #expect(result.outcome.error?.kind == .status(500))
        #expect(result.outcome.attempts == 1)
        #expect(result.outcome.end == .zero)
        #expect(result.outcome.lastReason == .budget)
        #expect(result.quotas == [0, 0])
    }

    @Test("A29: four retries double their delays, and take 14 each")
    func growth() async throws {
        let result = try await call(500, maxAttempts: 5)
        #expect(result.outcome.delays == [50, 100, 200, 400].map { .milliseconds($0) })
        #expect(result.quotas == [500, 486, 472, 458, 444, 444])
    }

    @Test("A29: the delays stop growing at the cap")
    func cap() async throws {
        let result = try await call(500, maxAttempts: 5, cap: .milliseconds(200))
        #expect(result.outcome.delays == [50, 100, 200, 200].map { .milliseconds($0) })
        #expect(result.quotas.last == 444)
    }

    @Test("A29: after 429 delays begin at a second, and a retry takes 5")
    func throttling() async throws {
        let result = try await call(429, 429, 200)
        #expect(result.outcome.response?.status == 200)
        #expect(result.outcome.delays == [.seconds(1), .seconds(2)])
        #expect(result.quotas == [500, 495, 490, 495])
    }

    @Test("A29: a success without a retry brings 1, and never more than there is room for", arguments: [250, 499, 500])
    func plainSuccess(quota: Int) async throws {
        let result = try await call(200, quota: quota)
        #expect(result.outcome.attempts == 1)
        #expect(result.quotas == [quota, min(500, quota + 1)])
    }

    @Test("A29: a refund never makes it more than 500")
    func refundAtCapacity() async throws {
        let budget = QuotaBudget()
        budget.deposit(refunding: .failure)
        #expect(budget.balance == 500)
        #expect(budget.spend(.throttling))
        // Another call's success meanwhile.
        budget.deposit(refunding: .failure)
        #expect(budget.balance == 500)
    }

    @Test("429 and other failures in one call: each has its own delay and cost, and the last cost is refunded")
    func mixed() async throws {
        let result = try await call(500, 429, 200)
        #expect(result.outcome.delays == [.milliseconds(50), .seconds(2)])
        #expect(result.quotas == [500, 486, 481, 486])
    }
}
