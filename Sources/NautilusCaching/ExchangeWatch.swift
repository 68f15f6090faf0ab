import Nautilus

/// The request that an exchange carries in the end: interceptors further in change it, and the retrier stamps its
/// credential where no interceptor looks.
///
/// It follows the attempt that the exchange belongs to (``AttemptContext/follow(_:)``), so that it sees nothing of
/// other calls, however they were begun.
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
    ///   - account: The account that the answer is meant for.
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
        // Asked as soon as it has been stamped. Side requests may be meant for any account.
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

    /// Whether it went out as another account's than it was meant to be, or the account is another by now: nothing that
    /// is stored may become its answer.
    var hasChanged: Bool { state.withLock { $0.hasChanged } || !account.isCurrent }

    /// Whether the requests so far carried no credential, or that of the account they were meant for.
    var isShareable: Bool {
        state.withLock { !$0.hasChanged && (!$0.hasCredential || account.partition.account != nil) }
    }

    /// Whether the answer may be given to others of the same account, which may have changed after the request was
    /// stamped.
    var allowsSharing: Bool { isShareable && account.isCurrent }
}
