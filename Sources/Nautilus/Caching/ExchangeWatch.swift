/// What an exchange carries in the end: interceptors further in change the request, and the retrier stamps its credential
/// where no interceptor looks.
///
/// It is told by the attempt that the exchange belongs to (``AttemptContext/follow(_:)``), so that it sees nothing of other
/// calls, however they were begun.
final class ExchangeWatch: Sendable {
    private struct State {
        var sent: HttpRequest?
        var hasCredential = false
        var hasChanged = false
    }

    private let accounts: CacheAccounts
    private let partition: CachePartition
    private let role: CallTrace.Exchange.Role
    private let state = Locked(State())

    /// - Parameters:
    ///   - accounts: How accounts are told apart.
    ///   - partition: Whose answer it was meant to be before it was stamped.
    ///   - context: The attempt's, or the side request's.
    init(_ accounts: CacheAccounts, _ partition: CachePartition, _ context: AttemptContext) {
        (self.accounts, self.partition) = (accounts, partition)
        role = context.isSideRequest ? .side : .main
    }

    /// Takes note of a request that goes out.
    ///
    /// - Returns: Whether it is the request itself, and none that an interceptor sends besides.
    @discardableResult
    func note(_ request: HttpRequest, _ role: CallTrace.Exchange.Role) -> Bool {
        let (isOwn, hasCredential) = (role == self.role, request.hasCredential)
        // Asked as soon as it has been stamped. What is sent besides may be meant for anybody.
        let hasChanged = isOwn && accounts.partition(for: request) != partition
        state.withLock { state in
            if isOwn { state.sent = request }
            if hasCredential { state.hasCredential = true }
            if hasChanged { state.hasChanged = true }
        }
        return isOwn
    }

    /// The request as it went on the wire, the last if several did; nil when none has.
    var sent: HttpRequest? { state.withLock { $0.sent } }

    /// Whether it went out as another account's than it was meant to be: nothing that is stored for that one may become
    /// its answer.
    var hasChanged: Bool { state.withLock { $0.hasChanged } }

    /// Whether what has gone out so far is nobody's in particular, or the account's that it was meant to be.
    var isShareable: Bool {
        state.withLock { !$0.hasChanged && (!$0.hasCredential || partition.account != nil) }
    }

    /// Whether the answer to `request` may be given to others of the same partition: the account is asked once more, since
    /// it may have changed after the request was stamped.
    func allowsSharing(of request: HttpRequest) -> Bool {
        isShareable && accounts.partition(for: request) == partition
    }
}
