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

    private let account: CallAccount
    private let role: CallTrace.Exchange.Role
    private let state = Locked(State())

    /// - Parameters:
    ///   - account: Whose answer it is meant to be.
    ///   - context: The attempt's, or the side request's.
    init(_ account: CallAccount, _ context: AttemptContext) {
        self.account = account
        role = context.isSideRequest ? .side : .main
    }

    /// Takes note of a request that goes out.
    ///
    /// - Returns: Whether it is the request itself, and none that an interceptor sends besides.
    @discardableResult
    func note(_ request: HttpRequest, _ role: CallTrace.Exchange.Role) -> Bool {
        let (isOwn, hasCredential) = (role == self.role, request.hasCredential)
        // Asked as soon as it has been stamped. What is sent besides may be meant for anybody.
        let hasChanged = isOwn && !account.isCurrent
        state.withLock { state in
            if isOwn { state.sent = request }
            if hasCredential { state.hasCredential = true }
            if hasChanged { state.hasChanged = true }
        }
        return isOwn
    }

    /// The request as it went on the wire, the last if several did; nil when none has.
    var sent: HttpRequest? { state.withLock { $0.sent } }

    /// Whether it went out as another account's than it was meant to be, or the account is another by now: nothing that is
    /// stored may become its answer.
    var hasChanged: Bool { state.withLock { $0.hasChanged } || !account.isCurrent }

    /// Whether what has gone out so far is nobody's in particular, or the account's that it was meant to be.
    var isShareable: Bool {
        state.withLock { !$0.hasChanged && (!$0.hasCredential || account.partition.account != nil) }
    }

    /// Whether the answer may be given to others of the same account, which may have changed after the request was stamped.
    var allowsSharing: Bool { isShareable && account.isCurrent }
}
