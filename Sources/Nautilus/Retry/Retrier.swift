#if compiler(>=6.2)
    /// A protocol whose conformances belong to no actor (SE-0470), so that a type that conforms needs no `nonisolated`.
    public typealias NonisolatedConformance = SendableMetatype
#else
    /// Nothing: before Swift 6.2 no conformance belongs to an actor.
    public typealias NonisolatedConformance = Any
#endif

/// Decides what follows a failure of one call.
///
/// One retrier belongs to one call and stays in its task: it keeps state without a lock, and is not `Sendable`.
/// Things that calls share (a coordinator, a gate) it holds by reference. Its conformance belongs to no actor, also in a
/// module whose declarations are the main actor's by default.
public protocol Retrier: NonisolatedConformance {
    /// The last look at an attempt before the wire: stamps a credential, waits for a gate.
    ///
    /// Called for every attempt, again when an interceptor sends again, and once more, for the request as it was, when an
    /// interceptor has held it back since (``HttpInterceptor/readmit(_:context:)``). Default: nothing.
    ///
    /// - Throws: Any error; nothing is sent then, and it becomes the attempt's failure.
    mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws

    /// Decides what follows `error`. Asked exactly once per failed attempt, never after a cancellation, nor after the
    /// deadline.
    ///
    /// A retrier that does not retry leaves its state as it was.
    mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision

    /// Takes note that the call has succeeded: called exactly once, at its end, and not when a hook has fulfilled it.
    ///
    /// A retrier that holds another one passes it on. Default: nothing.
    ///
    /// - Parameter success: The success, with the exchanges of its attempt; through it, budgets and latencies that several
    ///   know take note of it once.
    mutating func succeeded(_ success: CallSuccess)

    /// A random part of `span`: how much longer the call sleeps before a retry when its sleep has ended more than two
    /// seconds late. Default: drawn from the system's generator.
    ///
    /// The process was suspended then, and all calls that slept in it wake at the same moment, however they were spread
    /// before. So they are spread again: over the delay that the retry had, at least 1 s and at most 10 s, and at most
    /// half of the time left until the call's deadline. Timeouts and deadlines are not put off.
    func spread(over span: Duration) -> Duration

    /// Why the last decision was taken, for the trace; nil, the default, for no reason.
    var reason: RetryReason? { get }
    /// The name of this retrier in the trace. Default: the type's name.
    var name: String { get }
}

extension Retrier {
    /// Does nothing.
    public mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {}
    /// Does nothing.
    public mutating func succeeded(_ success: CallSuccess) {}
    /// A part that the system's generator draws.
    public func spread(over span: Duration) -> Duration {
        span.scaled(by: SystemRandomSource().nextFraction())
    }
    /// No reason.
    public var reason: RetryReason? { nil }
    /// The type's name.
    public var name: String { String(describing: Self.self) }
}

/// Makes one retrier for each call.
public protocol RetrierFactory: Sendable {
    /// A new retrier for a call of `request`.
    func create<R: Request>(for request: R) -> any Retrier

    /// The limits of the retriers, for `HttpService.diagnose()`: several for retriers that are asked in turn. Default:
    /// none, nothing is known of them.
    var descriptions: [RetryDescription] { get }

    /// The factory for calls that need no credential, as ``HttpService/signedOut`` makes them: the same retriers without
    /// those that authorize, and without waits for a refresh. Default: a factory whose ``descriptions`` say that its retriers
    /// authorize makes none that retry, and any other is itself. A factory that wraps others passes it on to them.
    var signedOut: any RetrierFactory { get }
}

extension RetrierFactory {
    /// Nothing is known.
    public var descriptions: [RetryDescription] { [] }
    /// None that retry in the place of those that authorize, and itself otherwise.
    public var signedOut: any RetrierFactory {
        descriptions.contains(where: \.authorizes) ? NilRetrier.factory() : self
    }
}

/// The decision of a retrier. `true` stands for a retry at once, `false` for none.
public enum RetryDecision: Sendable, ExpressibleByBooleanLiteral {
    /// Try again after the delay; a delay that reaches the call's deadline is not slept, the error surfaces.
    ///
    /// - Parameters:
    ///   - after: How long to wait first.
    ///   - paying: The permit that pays for the retry; the call uses it when the retry is sent, and drops it unused
    ///     when it never is. Default: nil, the retry is free.
    case retry(after: Duration, paying: RetryPermit? = nil)
    /// Leave it to the next retrier; when none retries, the error surfaces.
    case doNotRetry
    /// Another error surfaces in place of the failure.
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
    ///   - descriptions: Their limits, as in ``RetrierFactory/descriptions``. Default: none, nothing is known of them.
    ///   - make: Makes the retrier of a call.
    public init(descriptions: [RetryDescription] = [], _ make: @escaping @Sendable () -> any Retrier) {
        self.base = ClosureFactory(descriptions: descriptions) { _ in make() }
    }

    /// Creates a factory whose retriers depend on the request.
    ///
    /// - Parameters:
    ///   - descriptions: Their limits, as in ``RetrierFactory/descriptions``. Default: none, nothing is known of them.
    ///   - make: Makes the retrier of a call of the request.
    public init(descriptions: [RetryDescription] = [], _ make: @escaping @Sendable (any Request) -> any Retrier) {
        self.base = ClosureFactory(descriptions: descriptions, make: make)
    }

    /// Hides the type of a factory.
    init(_ base: any RetrierFactory) {
        self.base = base
    }

    /// A new retrier for a call of `request`.
    public func create<R: Request>(for request: R) -> any Retrier {
        base.create(for: request)
    }

    /// The limits of its retriers, as far as they are known.
    public var descriptions: [RetryDescription] { base.descriptions }
    /// The same of the factory inside.
    public var signedOut: any RetrierFactory { base.signedOut }

    /// The type of the factory inside.
    var baseType: Any.Type { type(of: base) }
}

private struct ClosureFactory: RetrierFactory {
    let descriptions: [RetryDescription]
    let make: @Sendable (any Request) -> any Retrier

    func create<R: Request>(for request: R) -> any Retrier {
        make(request)
    }
}

/// A retrier that never retries: the default.
public struct NilRetrier: Retrier {
    /// Creates the retrier.
    public init() {}

    /// Never retries.
    public mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        .doNotRetry
    }

    /// Makes retriers that never retry.
    public static func factory() -> AnyRetrierFactory {
        AnyRetrierFactory { NilRetrier() }
    }
}

/// The limits of retriers of one kind, by which a service is checked before anything is sent.
///
/// A factory of your own describes its retriers by it:
/// ```swift
/// struct Twice: RetrierFactory {
///     func create<R: Request>(for request: R) -> any Retrier { TwiceRetrier() }
///     var descriptions: [RetryDescription] { [RetryDescription(maxAttempts: 2)] }
/// }
/// ```
public struct RetryDescription: Sendable {
    /// The most attempts of a call, the first included.
    public var maxAttempts: Int
    /// The least that all delays together take when every retry is made.
    public var shortestDelays: Duration
    /// The longest `Retry-After` that is waited for; nil when it is ignored, or when any is waited for.
    public var retryAfterCap: Duration?
    /// Whether requests are repeated that may then be executed twice.
    public var retriesNonIdempotentRequests: Bool
    /// The budgets that pay for the retries; nil when the retriers know none.
    public var budget: RetryBudgetScope?
    /// The gate that holds back the retries; nil for none.
    public var gate: (any RetryGate)?
    /// The record of how long attempts take; nil for none.
    public var latencies: OriginLatencies?
    /// Whether they put a credential on requests, and have a rejected one refreshed.
    public var authorizes: Bool
    /// Whether they repeat a request after a 401, as it was.
    public var retriesUnauthorized: Bool

    /// Retriers that authorize as ``CredentialLease`` does. The one repetition after a 401 is none of the attempts: the
    /// server has answered it at once, and has not acted on it.
    public static let authorization = RetryDescription(maxAttempts: 1, authorizes: true)

    /// Describes retriers.
    ///
    /// - Parameters:
    ///   - maxAttempts: The most attempts of a call, the first included. Less than 1 counts as 1.
    ///   - shortestDelays: The least that all delays together take. Default: zero, as with full jitter.
    ///   - retryAfterCap: The longest `Retry-After` that is waited for. Default: nil, none or any.
    ///   - retriesNonIdempotentRequests: Whether requests may be executed twice. Default: false.
    ///   - budget: The budgets that pay for the retries. Default: nil, the retriers know none.
    ///   - gate: The gate that holds back the retries. Default: nil, none.
    ///   - latencies: The record of how long attempts take. Default: nil, none.
    ///   - authorizes: Whether they put a credential on requests. Default: false.
    ///   - retriesUnauthorized: Whether they repeat a request after a 401, as it was. Default: false.
    public init(
        maxAttempts: Int,
        shortestDelays: Duration = .zero,
        retryAfterCap: Duration? = nil,
        retriesNonIdempotentRequests: Bool = false,
        budget: RetryBudgetScope? = nil,
        gate: (any RetryGate)? = nil,
        latencies: OriginLatencies? = nil,
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
    /// The most attempts of a call, the first included: one retrier's retries do not use up another's.
    var maxAttempts: Int {
        // Saturating: a limit of `Int.max` means that there is none.
        reduce(1) { attempts, policy in
            let (sum, overflows) = attempts.addingReportingOverflow(policy.maxAttempts - 1)
            return overflows ? .max : sum
        }
    }
}
