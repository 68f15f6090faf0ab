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
