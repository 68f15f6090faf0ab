#if compiler(<6.2)
    /// Nothing: before Swift 6.2, no conformance belongs to an actor (SE-0470).
    public typealias SendableMetatype = Any
#endif

/// Decides what follows a failure of one call.
///
/// One retrier belongs to one call, which asks it one question at a time: it keeps state without a lock, and is not
/// `Sendable`. It holds objects that calls share, such as a coordinator or a gate, by reference. Its conformance belongs to
/// no actor, even in a module whose declarations are the main actor's by default.
public protocol Retrier: SendableMetatype {
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

    /// The key of calls that fail alike: one whose key is equal may be given another's answer, or its failure
    /// (`RequestCoalescing`). Default: nil, nothing: such a call shares with nobody. A factory that wraps others combines
    /// their keys.
    var sharingKey: SharingKey? { get }

    /// The factory for anonymous calls, such as those of ``HttpService/anonymous``: the same retriers, but without
    /// waits for a refresh. Default: this factory, since an anonymous call does not ask its retrier for credentials, so
    /// that no failure has a tag by which to refresh one. A factory that wraps others forwards to them.
    var anonymous: any RetrierFactory { get }
}

extension RetrierFactory {
    /// Nil: its calls share with nobody.
    public var sharingKey: SharingKey? { nil }
    /// This factory.
    public var anonymous: any RetrierFactory { self }
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
    private let make: @Sendable (any Request) -> any Retrier
    private let key: @Sendable () -> SharingKey?

    /// Creates a factory whose retriers do not depend on the request.
    ///
    /// - Parameters:
    ///   - sharingKey: What the calls have in common, as in ``RetrierFactory/sharingKey``. Default: nil, nothing.
    ///   - make: Makes the retrier of a call.
    public init(
        sharingKey: @autoclosure @escaping @Sendable () -> SharingKey? = nil,
        _ make: @escaping @Sendable () -> any Retrier
    ) {
        (self.make, key) = ({ _ in make() }, sharingKey)
    }

    /// Creates a factory whose retriers depend on the request.
    ///
    /// - Parameter make: Makes the retrier of a call of the request.
    public init(_ make: @escaping @Sendable (any Request) -> any Retrier) {
        (self.make, key) = (make, { nil })
    }

    /// A new retrier for a call of `request`.
    public func create<R: Request>(for request: R) -> any Retrier { make(request) }

    /// The key that was given.
    public var sharingKey: SharingKey? { key() }
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

// MARK: - What the retriers of many calls share

/// A gate for retries: closed while a refresh is in flight, or while a pause ordered by the origin lasts.
///
/// Shared by all calls of a service. `RefreshCoordinator` is one; for services without credentials, use `OriginPauses`.
public protocol RetryGate: Sendable {
    /// Returns once nothing holds back a retry to `origin`.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func pass(to origin: HttpOrigin) async throws

    /// Holds back all retries to `origin` for at least `pause`; a longer pause that is already running stays.
    func close(_ origin: HttpOrigin, for pause: Duration)

    /// The rest of the pause that `origin` ordered; zero when there is none.
    func remainingPause(of origin: HttpOrigin) -> Duration

    /// The gate for anonymous calls, with the same pauses but without waits for a refresh. Default: this
    /// gate.
    var anonymous: any RetryGate { get }
}

extension RetryGate {
    /// Returns this gate itself.
    public var anonymous: any RetryGate { self }
}

/// A record, by origin, of how long successful requests took; `OriginLatencies` of `NautilusTraffic` is one.
///
/// Shared by all calls that are given the same object, from any task: both methods are atomic, and return at once.
public protocol LatencyRecord: AnyObject, Sendable {
    /// The time that half of the latest attempts to `origin` have not exceeded; nil while there are too few.
    func median(of origin: HttpOrigin) -> Duration?

    /// Records the latency of a successful attempt: the time from its sending to the header of the answer.
    func record(_ latency: Duration, of origin: HttpOrigin)
}
