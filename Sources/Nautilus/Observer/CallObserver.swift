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

extension CallObserver where Self == PrintingObserver {
    /// An observer that wants no events: the default of a service.
    public static var none: any CallObserver { NilCallObserver() }

    /// Several observers as one: each event goes to all that want events, in order.
    ///
    /// ```swift
    /// var observer: any CallObserver { .composed(PrintingObserver(), metrics) }
    /// ```
    public static func composed(_ observers: any CallObserver...) -> any CallObserver {
        ComposedCallObserver(observers: observers)
    }
}

package struct NilCallObserver: CallObserver {
    package func observe(_ event: CallEvent) {}
    package var isEnabled: Bool { false }
}

private struct ComposedCallObserver: CallObserver {
    let observers: [any CallObserver]

    func observe(_ event: CallEvent) {
        for observer in observers where observer.isEnabled { observer.observe(event) }
    }

    var isEnabled: Bool { observers.contains(where: \.isEnabled) }
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
    /// A connection of a feed or a web socket, opened by this call, has ended, or could not be opened again; includes the
    /// decision that followed, and the delay until the next connection if there will be one.
    case connectionEnded(CallIdentity, CallTrace.ConnectionEnd)
    /// A refresh begins, to replace this generation.
    case refreshStarted(generation: Int)
    /// A refresh has ended, with the new generation, or nil if it failed.
    case refreshEnded(generation: Int?)
}

extension CallTrace {
    /// The end of a feed's or web socket's connection.
    public struct ConnectionEnd: Sendable, Hashable, CustomStringConvertible {
        /// How long the connection was open; nil if it could not be opened.
        public var duration: Duration?
        /// Why it ended. If the server ended it in order, this is `networkConnectionLost` as well.
        public var kind: FailureKind
        /// Whether another connection follows, and after which delay.
        public var decision: Decision

        package init(duration: Duration?, kind: FailureKind, decision: Decision) {
            (self.duration, self.kind, self.decision) = (duration, kind, decision)
        }

        /// The time, the reason and the decision.
        public var description: String {
            "\(duration.map { "connection ended after \($0.brief)" } ?? "not connected"): \(kind); \(decision)"
        }
    }
}
