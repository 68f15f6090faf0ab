#if compiler(>=6.2)
    /// A protocol whose conformances belong to no actor (SE-0470), so that conforming types need no `nonisolated`.
    public typealias NonisolatedConformance = SendableMetatype
#else
    /// Nothing: before Swift 6.2 no conformance belongs to an actor.
    public typealias NonisolatedConformance = Any
#endif

/// Decides what follows a failure of one call.
///
/// One retrier belongs to one call, which asks it one question at a time: it keeps state without a lock, and is not
/// `Sendable`. It holds objects that calls share, such as a coordinator or a gate, by reference. Its conformance belongs to
/// no actor, even in a module whose declarations are the main actor's by default.
public protocol Retrier: NonisolatedConformance {
    /// The credentials that the call's requests carry, and whose sessions it ends with. Asked once, when the call is bound;
    /// not of an anonymous call. Default: none.
    var credentials: [any CallCredential] { get }

    /// Returns when the next attempt may begin: waits at a gate, for instance. Called before each attempt but the first,
    /// after the delay; its wait ends with the call's session. Default: at once.
    ///
    /// - Parameter request: The request of the attempt that has failed.
    /// - Throws: Any error; then no attempt follows, and it surfaces.
    mutating func beforeRetry(of request: HttpRequest) async throws

    /// Decides what follows `error`. Asked exactly once per failed attempt, but never after a cancellation or past the
    /// deadline.
    ///
    /// A retrier that does not retry leaves its state unchanged.
    mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision

    /// The budgets that pay for retries to an origin. A call that succeeds deposits in each, once, even if several retriers
    /// name it. A retrier that contains another names those of both. Default: none.
    func budgets(for origin: HttpOrigin) -> [any RetryBudget]

    /// The records of how long servers take, to each of which a call that succeeds adds its latency, once. Default: none.
    var latencies: [any LatencyRecord] { get }

    /// Why the last decision was taken, for the trace; nil, the default, for no reason.
    var reason: RetryReason? { get }
    /// The name of this retrier in the trace. Default: the type's name.
    var name: String { get }
}

extension Retrier {
    /// None.
    public var credentials: [any CallCredential] { [] }
    /// Returns at once.
    public mutating func beforeRetry(of request: HttpRequest) async throws {}
    /// None.
    public func budgets(for origin: HttpOrigin) -> [any RetryBudget] { [] }
    /// None.
    public var latencies: [any LatencyRecord] { [] }
    /// No reason.
    public var reason: RetryReason? { nil }
    /// The type's name.
    public var name: String { String(describing: Self.self) }
}

/// Makes one retrier for each call.
public protocol RetrierFactory: Sendable {
    /// A new retrier for a call of `request`.
    func create<R: Request>(for request: R) -> any Retrier

    /// The limits of the retriers, for `HttpService.diagnose()`: several when retriers are asked in turn. Default:
    /// empty, nothing is known of them.
    var descriptions: [RetryDescription] { get }

    /// The key of calls that fail alike: one whose key is equal may be given another's answer, or its failure
    /// (`RequestCoalescing`). Default: nil, nothing: such a call shares with nobody. A factory that wraps others combines
    /// their keys.
    var sharingKey: SharingKey? { get }

    /// The factory for anonymous calls, such as those of ``HttpService/anonymous``: the same retriers, but without
    /// those that authorize, and without waits for a refresh. Default: if the ``descriptions`` say that the retriers
    /// authorize, a factory of retriers that never retry; otherwise this factory. A factory that wraps others forwards
    /// to them.
    var anonymous: any RetrierFactory { get }
}

extension RetrierFactory {
    /// Nil: its calls share with nobody.
    public var sharingKey: SharingKey? { nil }
    /// Returns an empty list: nothing is known of the retriers.
    public var descriptions: [RetryDescription] { [] }
    /// Returns a factory of retriers that never retry if these authorize, and this factory otherwise.
    public var anonymous: any RetrierFactory {
        descriptions.contains(where: \.authorizes) ? .never : self
    }
}

/// The key of calls that fail alike (``RetrierFactory/sharingKey``).
public struct SharingKey: Hashable, Sendable {
    private let value: any Hashable & Sendable

    /// Creates the key of all calls for which the value is equal.
    public init(_ value: some Hashable & Sendable) {
        self.value = value
    }

    /// Whether the values are of the same type, and equal.
    public static func == (left: SharingKey, right: SharingKey) -> Bool {
        AnyHashable(left.value) == AnyHashable(right.value)
    }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}

/// The decision of a retrier. `true` stands for an immediate retry, `false` for none.
public enum RetryDecision: Sendable, ExpressibleByBooleanLiteral {
    /// Try again after the delay. If the delay reaches the call's deadline, the call does not sleep, and the error
    /// surfaces.
    ///
    /// - Parameters:
    ///   - after: How long to wait first.
    ///   - paying: What the retry costs. The call pays when nothing else keeps it from the retry; if the budget refuses, the
    ///     error surfaces. Default: nil, the retry is free.
    ///   - evenIfExecuted: Whether the request may be executed twice. Default: false: the call refuses another attempt
    ///     unless the failure ``HttpError/isSafeToRepeat``.
    case retry(after: Duration, paying: RetryCost? = nil, evenIfExecuted: Bool = false)
    /// Leave the decision to the next retrier; when none retries, the error surfaces.
    case doNotRetry
    /// Let another error surface instead of the failure.
    case fail(with: HttpError)

    /// `true`: retry at once. `false`: do not retry.
    public init(booleanLiteral value: Bool) {
        self = value ? .retry(after: .zero) : .doNotRetry
    }
}

/// A factory from a closure.
///
/// ```swift
/// var retrierFactory: any RetrierFactory { AnyRetrierFactory { MyRetrier(store: store) } }
/// ```
public struct AnyRetrierFactory: RetrierFactory {
    private let base: any RetrierFactory

    /// Creates a factory whose retriers do not depend on the request.
    ///
    /// - Parameters:
    ///   - descriptions: The retriers' limits, as in ``RetrierFactory/descriptions``. Default: none, nothing is known
    ///     of them.
    ///   - sharingKey: What the calls have in common, as in ``RetrierFactory/sharingKey``. Default: nil, nothing.
    ///   - make: Makes the retrier of a call.
    public init(
        descriptions: [RetryDescription] = [],
        sharingKey: @autoclosure @escaping @Sendable () -> SharingKey? = nil,
        _ make: @escaping @Sendable () -> any Retrier
    ) {
        self.base = ClosureFactory(descriptions: descriptions, key: sharingKey) { _ in make() }
    }

    /// Creates a factory whose retriers depend on the request.
    ///
    /// - Parameters:
    ///   - descriptions: The retriers' limits, as in ``RetrierFactory/descriptions``. Default: none, nothing is known
    ///     of them.
    ///   - make: Makes the retrier of a call of the request.
    public init(descriptions: [RetryDescription] = [], _ make: @escaping @Sendable (any Request) -> any Retrier) {
        self.base = ClosureFactory(descriptions: descriptions, key: { nil }, make: make)
    }

    /// Hides the type of a factory.
    init(_ base: any RetrierFactory) {
        self.base = base
    }

    /// A new retrier for a call of `request`.
    public func create<R: Request>(for request: R) -> any Retrier {
        base.create(for: request)
    }

    /// The limits of the retriers, as far as they are known.
    public var descriptions: [RetryDescription] { base.descriptions }
    /// The key of the factory inside.
    public var sharingKey: SharingKey? { base.sharingKey }
    /// The factory inside, for anonymous calls.
    public var anonymous: any RetrierFactory { base.anonymous }

    /// The type of the factory inside.
    var baseType: Any.Type { type(of: base) }
}

private struct ClosureFactory: RetrierFactory {
    let descriptions: [RetryDescription]
    let key: @Sendable () -> SharingKey?
    let make: @Sendable (any Request) -> any Retrier

    var sharingKey: SharingKey? { key() }

    func create<R: Request>(for request: R) -> any Retrier {
        make(request)
    }
}

extension RetrierFactory where Self == AnyRetrierFactory {
    /// Makes retriers that never retry: the default of a service.
    public static var never: AnyRetrierFactory {
        AnyRetrierFactory(sharingKey: SharingKey("NilRetrier")) { NilRetrier() }
    }
}

/// A retrier that never retries.
package struct NilRetrier: Retrier {
    package init() {}

    package mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        .doNotRetry
    }
}

/// The limits of one kind of retrier, or of an interceptor's second sends (``HttpInterceptor/hedging``); by these, a
/// service is checked before anything is sent.
///
/// A custom factory describes its retriers with it:
/// ```swift
/// struct Twice: RetrierFactory {
///     func create<R: Request>(for request: R) -> any Retrier { TwiceRetrier() }
///     var descriptions: [RetryDescription] { [RetryDescription(maxAttempts: 2)] }
/// }
/// ```
public struct RetryDescription: Sendable {
    /// The most attempts of a call, including the first.
    public var maxAttempts: Int
    /// The shortest possible sum of all delays when every retry is made.
    public var shortestDelays: Duration
    /// The longest `Retry-After` that is waited for; nil when it is ignored, or when there is no limit.
    public var retryAfterCap: Duration?
    /// Whether requests are repeated even if the server might then execute them twice.
    public var retriesNonIdempotentRequests: Bool
    /// The budgets that pay for the retries; nil when the retriers know none.
    public var budget: RetryBudgetScope?
    /// The gate that holds back the retries; nil for none.
    public var gate: (any RetryGate)?
    /// The record of how long attempts take; nil for none.
    public var latencies: (any LatencyRecord)?
    /// Whether the retriers put a credential on requests, and have it refreshed when it is rejected.
    public var authorizes: Bool
    /// Whether the retriers repeat a request unchanged after a 401.
    public var retriesUnauthorized: Bool

    /// Retriers that authorize with a ``CallAuthorizer``. The one repetition after a 401 does not count as an
    /// attempt: the server has answered at once, and has not acted on the request.
    public static let authorization = RetryDescription(maxAttempts: 1, authorizes: true)

    /// Describes retriers.
    ///
    /// - Parameters:
    ///   - maxAttempts: The most attempts of a call, including the first. Less than 1 counts as 1.
    ///   - shortestDelays: The shortest possible sum of all delays. Default: zero, as with full jitter.
    ///   - retryAfterCap: The longest `Retry-After` that is waited for. Default: nil: it is ignored, or there is no
    ///     limit.
    ///   - retriesNonIdempotentRequests: Whether requests may be executed twice. Default: false.
    ///   - budget: The budgets that pay for the retries. Default: nil, the retriers know none.
    ///   - gate: The gate that holds back the retries. Default: nil, none.
    ///   - latencies: The record of how long attempts take. Default: nil, none.
    ///   - authorizes: Whether the retriers put a credential on requests. Default: false.
    ///   - retriesUnauthorized: Whether the retriers repeat a request unchanged after a 401. Default: false.
    public init(
        maxAttempts: Int,
        shortestDelays: Duration = .zero,
        retryAfterCap: Duration? = nil,
        retriesNonIdempotentRequests: Bool = false,
        budget: RetryBudgetScope? = nil,
        gate: (any RetryGate)? = nil,
        latencies: (any LatencyRecord)? = nil,
        authorizes: Bool = false,
        retriesUnauthorized: Bool = false
    ) {
        self.maxAttempts = max(1, maxAttempts)
        self.shortestDelays = max(.zero, shortestDelays)
        self.retryAfterCap = retryAfterCap
        self.retriesNonIdempotentRequests = retriesNonIdempotentRequests
        self.budget = budget
        self.gate = gate
        self.latencies = latencies
        self.authorizes = authorizes
        self.retriesUnauthorized = retriesUnauthorized
    }
}

extension Collection where Element == RetryDescription {
    /// The most attempts of a call, including the first: one retrier's retries do not use up another's.
    var maxAttempts: Int {
        // Saturating: a limit of `Int.max` means no limit.
        reduce(1) { attempts, policy in
            let (sum, overflows) = attempts.addingReportingOverflow(policy.maxAttempts - 1)
            return overflows ? .max : sum
        }
    }
}
