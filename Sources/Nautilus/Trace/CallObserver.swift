import Foundation

/// Receives the events of calls: for logs, metrics and progress.
///
/// Called synchronously on a task of the call: return at once. Events carry no secret.
public protocol CallObserver: Sendable {
    /// Takes one event.
    func observe(_ event: CallEvent)
    /// Whether events are wanted at all; if not, they are not even created. Default: true.
    var isEnabled: Bool { get }
}

extension CallObserver {
    /// Events are wanted.
    public var isEnabled: Bool { true }
}

/// An observer that wants no events: the default.
public struct NilCallObserver: CallObserver {
    /// Creates the observer.
    public init() {}
    /// Does nothing.
    public func observe(_ event: CallEvent) {}
    /// Events are not wanted.
    public var isEnabled: Bool { false }
}

/// Several observers as one: each event goes to all observers that want events, in order.
///
/// ```swift
/// var observer: any CallObserver { ComposedCallObserver(PrintingObserver(), metrics) }
/// ```
public struct ComposedCallObserver: CallObserver {
    private let observers: [any CallObserver]

    /// Composes observers; without any, the result wants no events.
    public init(_ observers: any CallObserver...) {
        self.init(observers)
    }

    /// Composes observers; without any, the result wants no events.
    public init(_ observers: [any CallObserver]) {
        self.observers = observers
    }

    /// Passes the event to each observer that wants events.
    public func observe(_ event: CallEvent) {
        for observer in observers where observer.isEnabled { observer.observe(event) }
    }

    /// Whether any of the observers wants events.
    public var isEnabled: Bool { observers.contains(where: \.isEnabled) }
}

/// Something that happened in a call, or in a refresh that calls share.
public enum CallEvent: Sendable {
    /// An attempt begins.
    case attemptStarted(CallIdentity, number: Int)
    /// A request goes out; the exchange's outcome is still `unfinished`.
    case exchangeStarted(CallIdentity, CallTrace.Exchange)
    /// A request that went out has ended. The losing send of a hedge may end after its call.
    case exchangeEnded(CallIdentity, CallTrace.Exchange)
    /// An attempt has ended; includes the decision that followed, if there was one.
    case attemptEnded(CallIdentity, CallTrace.Attempt)
    /// A call has ended.
    case callEnded(CallIdentity, CallTrace)
    /// A refresh begins, to replace this generation.
    case refreshStarted(generation: Int)
    /// A refresh has ended, with the new generation, or nil if it failed.
    case refreshEnded(generation: Int?)
}
