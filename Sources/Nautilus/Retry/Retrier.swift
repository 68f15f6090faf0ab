/// Decides what follows a failure of one call.
///
/// One retrier belongs to one call and stays in its task: it keeps state without a lock, and is not `Sendable`.
/// Things that calls share (a coordinator, a gate) it holds by reference.
public protocol Retrier {
    /// The last look at an attempt before the wire: stamps a credential, waits for a gate.
    ///
    /// Called for every attempt, and again when an interceptor sends again. Default: nothing.
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
    var policies: [RetryPolicy] { get }
}

extension RetrierFactory {
    /// Nothing is known.
    public var policies: [RetryPolicy] { [] }
}
