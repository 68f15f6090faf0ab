import Nautilus

/// A request that a cache may answer, and the call that it belongs to.
struct CacheQuestion {
    let request: HttpRequest
    let target: CacheTarget
    /// The partition that answers come from and go to.
    let partition: CachePartition
    let control: CacheControl
    let context: CallContext
    private let accounts: CacheAccounts

    init(
        _ request: HttpRequest,
        _ target: CacheTarget,
        _ partition: CachePartition,
        _ accounts: CacheAccounts,
        _ context: CallContext
    ) {
        (self.request, self.target, self.partition) = (request, target, partition)
        (self.accounts, self.context) = (accounts, context)
        control = CacheControl(request.header)
    }

    /// Whether the call still belongs to its account, so that its answer may be kept.
    var isCurrent: Bool { accounts.partition(of: request, context) == partition }
}
