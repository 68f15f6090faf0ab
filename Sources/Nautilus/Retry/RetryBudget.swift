/// Bounds the extra load that the retries of all calls are together.
///
/// Backoff spreads retries, and does not make them fewer: when a server fails because of load, four attempts for each
/// call are four times the load, later. So a server that has gone down for seconds may never come back. A budget is
/// filled by successes and emptied by retries; when most calls fail it is soon empty, and the first attempts are all
/// that a struggling server has to bear.
///
/// ```swift
/// final class NoneInMaintenance: RetryBudget {
///     let isMaintenance: @Sendable () -> Bool
///     init(isMaintenance: @escaping @Sendable () -> Bool) { self.isMaintenance = isMaintenance }
///     func withdraw(_ charge: RetryCharge) -> RetryPermit? {
///         isMaintenance() ? nil : RetryPermit(from: self, for: charge)
///     }
///     func deposit(refunding charge: RetryCharge?) {}
/// }
/// ```
/// Shared by all calls of its scope, from any task: both methods are atomic, and return at once.
public protocol RetryBudget: AnyObject, Sendable {
    /// Takes the cost of one retry.
    ///
    /// - Parameter charge: The failure that the retry follows. A budget may ask more for some failures than for others.
    /// - Returns: The permit that pays for the retry when it is sent, and gives the cost back when it never is; nil
    ///   when the retry must not be made, and nothing was taken.
    func withdraw(_ charge: RetryCharge) -> RetryPermit?

    /// Takes note that a call has succeeded.
    ///
    /// - Parameter charge: The charge of the call's last retry; nil when there was none. A budget may give it back,
    ///   since a retry that succeeds shows that the server bears it.
    func deposit(refunding charge: RetryCharge?)

    /// Whether it allows fewer retries now than one that has just been made. ``OriginBudgets`` forgets no budget that does.
    ///
    /// Default: true, for which it is kept for ever; tell when it is not, where origins are many.
    var isDrawnOn: Bool { get }
}

extension RetryBudget {
    /// True.
    public var isDrawnOn: Bool { true }
    /// Takes the cost of a retry after an ordinary failure; nil when it must not be made.
    public func withdraw() -> RetryPermit? { withdraw(.failure) }
    /// Takes note that a call has succeeded without a retry.
    public func deposit() { deposit(refunding: nil) }
}

/// Which calls share a retry budget, and which budget.
public struct RetryBudgetScope: Sendable {
    private let find: @Sendable (HttpOrigin?) -> (any RetryBudget)?
    private let findKeeper: @Sendable () -> (any Sendable)?
    /// Whether there is no budget at all.
    let isUnlimited: Bool

    /// A ``TokenBucketBudget`` for each origin, shared by all calls of the process, or of the simulation: those of
    /// ``OriginBudgets/shared``.
    public static let perOrigin = RetryBudgetScope(keeper: OriginBudgets.shared) {
        $0.map(OriginBudgets.shared.budget)
    }

    /// A budget for each origin, shared by all that are given the same `budgets`.
    ///
    /// - Parameter budgets: Keep them as the service's own: made anew in every `retrierFactory`, they would not be
    ///   shared.
    public static func perOrigin(in budgets: OriginBudgets) -> RetryBudgetScope {
        RetryBudgetScope(keeper: budgets) { $0.map(budgets.budget) }
    }

    /// One budget, for any origin, shared by all that are given the same.
    ///
    /// - Parameter budget: Keep it as the service's own: made anew in every `retrierFactory`, it would not be shared.
    public static func shared(_ budget: any RetryBudget) -> RetryBudgetScope {
        RetryBudgetScope(keeper: budget) { _ in budget }
    }

    /// No budget: each call retries for itself. For tests, and where something else bounds the load.
    public static let unlimited = RetryBudgetScope(isUnlimited: true) { _ in nil }

    private init(
        keeper: @autoclosure @escaping @Sendable () -> (any Sendable)? = nil,
        isUnlimited: Bool = false,
        find: @escaping @Sendable (HttpOrigin?) -> (any RetryBudget)?
    ) {
        self.findKeeper = keeper
        self.isUnlimited = isUnlimited
        self.find = find
    }

    /// The owner of the budgets, or the one budget; nil when there is none.
    var keeper: (any Sendable)? { findKeeper() }

    /// Whether both lead to the same budgets; nil when it cannot be told.
    func isShared(with other: RetryBudgetScope) -> Bool? {
        if isUnlimited || other.isUnlimited { return isUnlimited && other.isUnlimited }
        guard let own = keeper.flatMap(ObjectIdentifier.init(ofAny:)) else { return nil }
        return other.keeper.flatMap(ObjectIdentifier.init(ofAny:)).map { $0 == own }
    }

    /// The budget for retries to `origin`; nil when there is none.
    func budget(of origin: HttpOrigin?) -> (any RetryBudget)? {
        find(origin)
    }
}

/// The budgets of all origins, each made when its origin is first met, shared by all owners of this.
///
/// A service is a value, often made anew for every call, and its budget must not be: the calls of a whole process are
/// one load to the server. So the default budgets are the process's own, ``shared``.
///
/// They are bounded, and stay effective beyond the bound: only a budget that is not drawn on is forgotten, and nothing
/// is lost with it. When all that are kept are drawn on, the origins that come then share one.
public final class OriginBudgets: Sendable {
    /// The process's own: a ``TokenBucketBudget`` for each origin. In a simulation of the test kit they are that
    /// simulation's, so that no other test draws on them.
    public static var shared: OriginBudgets { SharedByOrigin.current.budgets }

    private struct Table: Sendable {
        /// The least recently used first.
        var budgets = LinkedTable<HttpOrigin, any RetryBudget>()
        /// The budget of all origins for which there is no room; nil while there was room for all.
        var overflow: (any RetryBudget)?

        mutating func budget(of origin: HttpOrigin) -> (any RetryBudget)? {
            budgets.withValue(for: origin, movingToEnd: true) { $0 }
        }
    }

    /// How many budgets are looked at for one to forget; those that are drawn on then count as used, so that others are
    /// looked at the next time.
    private static let looks = 8

    private let limit: Int
    private let make: @Sendable (HttpOrigin) -> any RetryBudget
    private let table = Locked(Table())

    /// Creates a registry without budgets.
    ///
    /// - Parameters:
    ///   - limit: How many budgets are kept, at least 1. Default: 1 024, far more than the origins of an app, and some
    ///     hundred kilobytes; a crawler's must not fill the memory.
    ///   - make: Makes the budget of an origin. Called again when it has been forgotten, and now and then for nothing,
    ///     when two calls are the first at once; once for the budget that is shared, with the origin that needs it first.
    public init(limit: Int = 1_024, make: @escaping @Sendable (HttpOrigin) -> any RetryBudget) {
        self.limit = max(1, limit)
        self.make = make
    }

    /// The budget of `origin`, the same for everybody.
    public func budget(of origin: HttpOrigin) -> any RetryBudget {
        let (known, candidates, overflow) = table.withLock { table in
            let known = table.budget(of: origin)
            let isFull = known == nil && table.budgets.count >= limit
            return (known, isFull ? table.budgets.prefix(Self.looks) : [], table.overflow)
        }
        if let known { return known }
        // Asked outside of the lock, and made there, since that is the user's code.
        let forgettable = candidates.first { !$0.value.isDrawnOn }
        if !candidates.isEmpty, forgettable == nil, let overflow {
            table.withLock { table in
                for candidate in candidates { _ = table.budget(of: candidate.key) }
            }
            return overflow
        }
        let made = make(origin)
        return table.withLock { table in
            // The thread that comes second takes the first one's budget.
            if let known = table.budget(of: origin) { return known }
            for candidate in candidates { _ = table.budget(of: candidate.key) }
            if let forgettable { table.budgets.removeValue(for: forgettable.key) }
            if table.budgets.count < limit {
                table.budgets.append(made, for: origin)
                return made
            }
            let overflow = table.overflow ?? made
            table.overflow = overflow
            return overflow
        }
    }

    /// How many budgets are kept now, without the one that is shared.
    var count: Int { table.withLock { $0.budgets.count } }
}

/// The right to send one retry, taken from a budget: paid for when the retry is sent, given back when it never is.
///
/// Between a decision and its retry much can happen: the caller leaves, a cache answers, the body turns out to be spent.
/// A permit that is dropped unused gives its cost back by itself. The call uses it, at the moment the attempt's request
/// is handed to the transport.
public final class RetryPermit: Sendable {
    private enum State {
        case unused, used
    }

    /// The budget that it was taken from.
    public let budget: any RetryBudget
    /// The kind of failure it was withdrawn for.
    public let charge: RetryCharge
    private let giveBack: @Sendable () -> Void
    private let state = Locked(State.unused)

    /// Creates a permit, as a budget does once it has taken the cost.
    ///
    /// - Parameters:
    ///   - budget: The budget.
    ///   - charge: The charge that it was withdrawn for.
    ///   - giveBack: Gives the cost back. Called at most once, from any task. Default: nothing, for a budget without cost.
    public init(
        from budget: any RetryBudget,
        for charge: RetryCharge,
        giveBack: @escaping @Sendable () -> Void = {}
    ) {
        (self.budget, self.charge, self.giveBack) = (budget, charge, giveBack)
    }

    deinit {
        if state.withLock({ $0 }) == .unused { giveBack() }
    }

    /// Takes note that a retry is sent now.
    ///
    /// - Returns: Whether it may be sent: always the first time. Calls that share one answer share the permit for its
    ///   retry, too; where that turns out to be more than one, the budget has to pay once more.
    public func use() -> Bool {
        let isFirst = state.withLock { state in
            defer { state = .used }
            return state == .unused
        }
        return isFirst || budget.withdraw(charge)?.use() == true
    }
}

/// The reason for one more request, by which a budget decides its cost: mostly the kind of failure that a retry follows.
public enum RetryCharge: Hashable, Sendable {
    /// A 429 that says when to come back: the server is well, and has refused the request by a rule of its own.
    case postponed
    /// Any other answer by which the server has refused the request unprocessed, and said when to come back: 503 with
    /// `Retry-After`. It may be the limit of a fleet, or the end of its strength.
    case unavailable
    /// A 429 that does not say when to come back.
    case throttling
    /// Any other failure.
    case failure
    /// No failure at all: a slow attempt is sent a second time, see ``Hedging``. It costs as much as a retry after a
    /// failure, and its success shows less: a slow server may have answered both.
    case hedge

    /// Whether the server has refused the request unprocessed, and said when to come back.
    var isInvited: Bool { self == .postponed || self == .unavailable }

    /// Creates the charge of a retry after `error`; nil when it is free.
    ///
    /// A request that found no network, or that was held back here, has reached no server, so that the retry is the first
    /// that can be a load on it. And the end of a stream's connection that had served is no failure.
    init?(after error: HttpError) {
        guard !error.isRefusal, !error.hadServed else { return nil }
        let isInvited = error.delivery == .rejected && error.retryAfter != nil
        switch error.kind {
        case .transport(.notConnectedToInternet), .transport(.dataNotAllowed), .transport(.internationalRoamingOff),
            .transport(.callIsActive):
            return nil
        case .status(429): self = isInvited ? .postponed : .throttling
        default: self = isInvited ? .unavailable : .failure
        }
    }
}
