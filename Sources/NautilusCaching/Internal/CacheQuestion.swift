import Nautilus

/// A request that a cache may answer, and the attempt that it belongs to.
struct CacheQuestion: Sendable {
    let request: HttpRequest
    let target: CacheTarget
    let account: CallAccount
    let control: CacheControl
    let context: AttemptContext

    init(_ request: HttpRequest, _ target: CacheTarget, _ account: CallAccount, _ context: AttemptContext) {
        (self.request, self.target, self.account, self.context) = (request, target, account, context)
        control = CacheControl(request.header)
    }

    /// The partition that answers may come from.
    var partition: CachePartition { account.partition }
}
