import Foundation
import Nautilus
import NautilusTraffic

/// The cost to a call of a retry budget: a deposit for its success, a withdrawal for each retry.
enum BudgetSuite {
    static let all: [any Measurable] =
        budgets.flatMap { name, make in
            [
                comparison("\(name), deposit", deposits(make())),
                comparison("\(name), withdrawal", withdrawals(make())),
            ]
        } + [comparison("finding the budget of an origin", lookups())]

    private static let budgets: [(String, @Sendable () -> any RetryBudget)] = [
        ("token bucket", { TokenBucketBudget() }),
        ("ratio", { RatioBudget() }),
        ("quota", { QuotaBudget() }),
    ]

    private static func comparison(_ name: String, _ subject: Subject) -> Comparison {
        Comparison(
            group: "Retry budgets",
            name: name,
            metrics: [.cpu, .allocations],
            subject: subject,
            baseline: lock
        )
    }

    private static let lock = Subject("NSLock, lock and unlock") { count in
        let lock = NSLock()
        for _ in 0..<count { lock.withLock {} }
    }

    private static func deposits(_ budget: any RetryBudget) -> Subject {
        Subject("deposits") { count in
            for _ in 0..<count { budget.deposit() }
        }
    }

    /// Most are refused, as in an outage: granted or not, the work is the same.
    private static func withdrawals(_ budget: any RetryBudget) -> Subject {
        Subject("withdrawals") { count in
            for _ in 0..<count { _ = budget.withdraw() }
        }
    }

    private static func lookups() -> Subject {
        Subject("lookups") { count in
            guard let url = URL(string: "https://api.example.com"), let origin = HttpOrigin(url) else { return }
            for _ in 0..<count { _ = OriginBudgets.shared.budget(of: origin) }
        }
    }
}
