import Foundation

/// Receives the events of calls: for logs, metrics and progress.
///
/// Called synchronously on a task of the call: return at once. Events carry no secret.
public protocol CallObserver: Sendable {
    /// Takes one event.
    func observe(_ event: CallEvent)
    /// Whether events are wanted at all; false spares the making of them. Default: true.
    var isEnabled: Bool { get }
}

extension CallObserver {
    /// Events are wanted.
    public var isEnabled: Bool { true }
}

/// An observer that wants nothing: the default.
public struct NilCallObserver: CallObserver {
    /// Creates the observer.
    public init() {}
    /// Takes nothing.
    public func observe(_ event: CallEvent) {}
    /// Events are not wanted.
    public var isEnabled: Bool { false }
}

/// Several observers as one: each event goes to all that want any, in order.
///
/// ```swift
/// var observer: any CallObserver { ComposedCallObserver(PrintingObserver(), metrics) }
/// ```
public struct ComposedCallObserver: CallObserver {
    private let observers: [any CallObserver]

    /// Composes observers; none is an observer that wants nothing.
    public init(_ observers: any CallObserver...) {
        self.init(observers)
    }

    /// Composes observers; none is an observer that wants nothing.
    public init(_ observers: [any CallObserver]) {
        self.observers = observers
    }

    /// Gives the event to each that wants any.
    public func observe(_ event: CallEvent) {
        for observer in observers where observer.isEnabled { observer.observe(event) }
    }

    /// Whether any of them wants events.
    public var isEnabled: Bool { observers.contains(where: \.isEnabled) }
}

/// Something that happened in a call, or in a refresh that calls share.
public enum CallEvent: Sendable {
    /// An attempt begins.
    case attemptStarted(CallIdentity, number: Int)
    /// A request goes out; its outcome is `unfinished`.
    case exchangeStarted(CallIdentity, CallTrace.Exchange)
    /// A request that went out has ended; a send that has lost against its hedge may end after its call.
    case exchangeEnded(CallIdentity, CallTrace.Exchange)
    /// An attempt has ended, with the decision that followed where there was one.
    case attemptEnded(CallIdentity, CallTrace.Attempt)
    /// A call has ended.
    case callEnded(CallIdentity, CallTrace)
    /// A refresh begins; it would replace this generation.
    case refreshStarted(generation: Int)
    /// A refresh has ended: the new generation, or nil for a failure.
    case refreshEnded(generation: Int?)
}

/// An error's summary of its request: enough to decide on a retry and to find it in a log, and no secret.
public struct RequestSummary: Hashable, Sendable, CustomStringConvertible {
    /// The method.
    public let method: HttpMethod
    /// Where it was sent first, before redirects.
    public let origin: HttpOrigin
    /// The path, without query, and percent-encoded: decoded, a component could break the line of a log.
    public let path: String
    /// Whether it carries an `Idempotency-Key`.
    public let hasIdempotencyKey: Bool
    /// Whether it went to the service's own origin: only then may the service's credential be on it.
    public let isToServiceOrigin: Bool

    /// Sums up `request`; nil when its URL has no origin.
    public init?(_ request: HttpRequest, serviceOrigin: HttpOrigin) {
        guard let origin = request.origin else { return nil }
        self.method = request.method
        self.origin = origin
        self.path = request.url.path(percentEncoded: true)
        self.hasIdempotencyKey = request.header[.idempotencyKey] != nil
        self.isToServiceOrigin = origin == serviceOrigin
    }

    /// Whether sending it twice has the effect of sending it once: its method is idempotent, or it has a key.
    public var isIdempotent: Bool { method.isIdempotent || hasIdempotencyKey }

    /// Method and URL, without query.
    public var description: String { "\(method) \(origin)\(path)" }
}

/// Where the redirects of one exchange have led.
public struct RedirectSummary: Hashable, Sendable {
    /// How many were followed, at least 1.
    public var count = 0
    /// Whether one led to another origin, so that credentials were left behind, also when a later one led back.
    public var leftOrigin = false
    /// Whether one made a GET of another method: then the server has acted on the request, most probably.
    public var becameGet = false

    /// Creates the summary of no redirect.
    public init() {}
}

/// Where on the path of a call something failed.
public enum CallStage: String, Hashable, Sendable {
    /// A hook threw before anything was built.
    case hook
    /// Headers, URL and body did not make a request.
    case build
    /// An interceptor threw.
    case intercept
    /// The retrier's last look failed: no credential.
    case prepare
    /// The exchange failed.
    case send
    /// A redirect was refused.
    case redirect
    /// The status was not an accepted one.
    case validate
    /// The body did not decode.
    case decode
    /// Between two attempts: the retrier's decision, or the delay.
    case retry
}
