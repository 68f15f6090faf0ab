/// What interceptors, retriers and transports may know of the attempt they work for.
public struct AttemptContext: Sendable {
    /// The attempt's number, from 1.
    public let number: Int
    /// The origin of the service's base URL: credentials go there and nowhere else.
    public let serviceOrigin: HttpOrigin
    /// How long one exchange may take; nil for no limit.
    public let timeout: Duration?
    /// What was left until the call's deadline when the attempt began; nil when there is no deadline.
    public let remaining: Duration?
    /// Whether the response's body is read while it comes, so that ``HttpResponse/body`` is empty on the way.
    public let streamsResponse: Bool
    /// What ends the exchange when its time is over; nil when its task is cancelled instead, as it is for all but an
    /// ``InterruptibleTransport``.
    public private(set) var interruption: Interruption?
    /// What the attempt's timer does not count; nil when there is no timer.
    private(set) var connectionWait: ConnectionWait?
    /// Makes the same call once more, with a retrier of its own and past the hook, for nobody: its result is dropped. Nil
    /// where no interceptor asks for it.
    private(set) var callAgain: (@Sendable () async -> Void)?

    /// Creates a context, as a test of an interceptor or a transport does.
    ///
    /// - Parameters:
    ///   - number: The attempt's number. Default: 1, the first.
    ///   - serviceOrigin: The origin of the service's base URL.
    ///   - timeout: How long one exchange may take. Default: nil, no limit, so that a test needs no clock.
    ///   - remaining: What is left until the deadline. Default: nil, there is none.
    ///   - streamsResponse: Whether the response's body is read while it comes. Default: false, as of most requests.
    ///   - interruption: What ends the exchange. Default: nil, only cancelling its task does.
    public init(
        number: Int = 1,
        serviceOrigin: HttpOrigin,
        timeout: Duration? = nil,
        remaining: Duration? = nil,
        streamsResponse: Bool = false,
        interruption: Interruption? = nil
    ) {
        self.number = number
        self.serviceOrigin = serviceOrigin
        self.timeout = timeout
        self.remaining = remaining
        self.streamsResponse = streamsResponse
        self.interruption = interruption
    }
}

extension AttemptContext {
    /// Tells that the exchange stands in line for a connection: from here on its timeout does not count.
    ///
    /// For a transport that bounds its connections. Without it, a timeout would strike requests that never left, as
    /// soon as more are made than there are connections. The call's deadline goes on.
    public func beginWaitingForConnection() {
        connectionWait?.begin()
    }

    /// Tells that the exchange has its connection: from here on its timeout counts.
    public func endWaitingForConnection() {
        connectionWait?.end()
    }

    /// This context with a timer on `clock`.
    func timed(on clock: any Clock<Duration>) -> AttemptContext {
        timed(by: ConnectionWait(on: clock))
    }

    /// This context with a timer that makes up for `wait`, and with an end that comes without a cancellation.
    func timed(by wait: ConnectionWait, interruption: Interruption? = nil) -> AttemptContext {
        var context = self
        context.connectionWait = wait
        context.interruption = interruption
        return context
    }

    /// This context without a timer.
    var untimed: AttemptContext {
        var context = self
        context.connectionWait = nil
        return context
    }

    /// This context with a way to make the call once more.
    func callingAgain(_ callAgain: @escaping @Sendable () async -> Void) -> AttemptContext {
        var context = self
        context.callAgain = callAgain
        return context
    }
}
