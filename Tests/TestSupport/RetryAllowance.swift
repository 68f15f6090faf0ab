import Nautilus

extension RetryBudget {
    /// Withdraws what a retry costs and sends it; false when the budget refuses.
    package func spend(_ reason: RetryCost.Reason = .failure) -> Bool {
        withdraw(reason)
    }
}

/// A budget of so many retries, to which nothing comes back: what is left tells what was paid.
package final class RetryAllowance: RetryBudget {
    private let left: Locked<Int>

    package init(_ retries: Int) {
        left = Locked(retries)
    }

    /// How many retries it would allow now.
    package var balance: Int { left.withLock { $0 } }

    package func withdraw(_ reason: RetryCost.Reason) -> Bool {
        left.withLock { left in
            guard left > 0 else { return false }
            left -= 1
            return true
        }
    }

    package func deposit(refunding reason: RetryCost.Reason?) {}
}
