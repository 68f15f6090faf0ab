import Nautilus

extension RetryBudget {
    /// Withdraws what a retry costs and sends it; false when the budget refuses.
    func spend(_ charge: RetryCharge = .failure) -> Bool {
        withdraw(charge)?.use() == true
    }
}
