import Nautilus

/// Observes the request that an exchange finally carries: interceptors further in change it, and the retrier stamps its
/// credential where no interceptor sees it.
///
/// It follows the attempt that the exchange belongs to (``AttemptContext/follow(_:)``), so it sees nothing of other
/// calls, however they were begun.
final class ExchangeWatch: Sendable {
    private struct State {
        var sent: HttpRequest?
        var hasCredential = false
        var hasChanged = false
    }

    private let account: CallAccount
    private let appFields: Set<HttpHeader.Name>
    private let role: CallTrace.Exchange.Role
    private let state = Locked(State())

    /// - Parameters:
    ///   - account: The account that the answer is meant for.
    ///   - context: The context of the attempt, or of the side request.
    ///   - appFields: Fields that belong to no user, whatever their names suggest.
    init(_ account: CallAccount, _ context: AttemptContext, appFields: Set<HttpHeader.Name>) {
        (self.account, self.appFields) = (account, appFields)
        role = context.isSideRequest ? .side : .main
    }

    /// Notes a request that goes out.
    ///
    /// - Returns: Whether it is the watched request itself, and not one that an interceptor sends in addition.
    @discardableResult
    func note(_ request: HttpRequest, _ role: CallTrace.Exchange.Role) -> Bool {
        let (isOwn, hasCredential) = (role == self.role, request.hasCredential(besides: appFields))
        // Check the account as soon as the request is stamped. Side requests may be meant for any account.
        let hasChanged = isOwn && !account.isCurrent
        state.withLock { state in
            if isOwn { state.sent = request }
            if hasCredential { state.hasCredential = true }
            if hasChanged { state.hasChanged = true }
        }
        return isOwn
    }

    /// The request as it went on the wire, the last one if there were several; nil when none has gone out.
    var sent: HttpRequest? { state.withLock { $0.sent } }

    /// Whether the request went out for another account than intended, or the account has changed since: nothing that
    /// is stored may then become its answer.
    var hasChanged: Bool { state.withLock { $0.hasChanged } || !account.isCurrent }

    /// Whether the requests so far carried no credential, or that of the account they were meant for.
    var isShareable: Bool {
        state.withLock { !$0.hasChanged && (!$0.hasCredential || account.partition.account != nil) }
    }

    /// Whether the answer may be given to others of the same account, which may have changed after the request was
    /// stamped.
    var allowsSharing: Bool { isShareable && account.isCurrent }
}
