/// Receives what happens in calls: for logs, metrics and progress.
///
/// Called synchronously on the call's task: return at once. Events carry no secret.
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

/// Something that happened in a call, or in a refresh that calls share.
public enum CallEvent: Sendable {
    /// An attempt begins; `request` names its type.
    case attemptStarted(request: String, number: Int)
    /// An attempt has ended, with the decision that followed where there was one.
    case attemptEnded(request: String, CallTrace.Attempt)
    /// A call has ended.
    case callEnded(request: String, CallTrace)
    /// A refresh begins; it would replace this generation.
    case refreshStarted(generation: Int)
    /// A refresh has ended: the new generation, or nil for a failure.
    case refreshEnded(generation: Int?)
}
