import Foundation

/// Either kind of interceptor: a ``CallInterceptor``, which wraps a call, or a ``NetworkInterceptor``, which wraps each
/// send. A service has one list of both, in any order: the kind says the tier, and the stage the place in it, so that
/// neither a wrong list nor a wrong order can be written.
///
/// Shared by all calls, so it is stateless or guards its own state.
public protocol HttpInterceptor: Sendable {
    /// The kind. A type that is both has to say which.
    var tier: InterceptorTier { get }

    /// The rules of its second sends, if it makes any. Each success of a call is recorded in the rules' latencies and
    /// deposited in their budget. Default: nil, none. If you wrap `Hedging` in an interceptor of your own, forward its
    /// rules.
    var hedging: HedgingRules? { get }
}

extension HttpInterceptor {
    /// None.
    public var hedging: HedgingRules? { nil }
}

/// The tier of an interceptor.
public enum InterceptorTier: Sendable {
    /// Around a call.
    case call(any CallInterceptor)
    /// Around each send.
    case network(any NetworkInterceptor)
}

extension [any HttpInterceptor] {
    /// Both tiers, each in the order of its stages; interceptors of one stage stay in the order of the list.
    var tiers: (call: [any CallInterceptor], network: [any NetworkInterceptor]) {
        if isEmpty { return ([], []) }
        var (call, network) = ([any CallInterceptor](), [any NetworkInterceptor]())
        for interceptor in self {
            switch interceptor.tier {
            case .call(let interceptor): call.append(interceptor)
            case .network(let interceptor): network.append(interceptor)
            }
        }
        return (call.ordered { $0.callTierStage.rawValue }, network.ordered { $0.networkStage.rawValue })
    }
}

extension Array {
    /// Sorted by rank, equals in their present order.
    fileprivate func ordered(by rank: (Element) -> Int) -> Self {
        // Nearly always they are in order already.
        if count < 2 || zip(self, dropFirst()).allSatisfy({ rank($0) <= rank($1) }) { return self }
        return enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
    }
}
