import Nautilus

/// The state of a ``CircuitBreaker``'s circuit to one origin.
public enum CircuitState: Hashable, Sendable {
    /// Requests are sent, and their outcomes are counted.
    case closed
    /// No request is sent for the rest of the pause.
    case open(remaining: Duration)
    /// The pause is over. One request is sent, to see whether the origin has recovered, and decides for all. If it
    /// takes longer than the pause, another is sent beside it, and the first to end decides.
    case halfOpen(isProbing: Bool)
}

/// A change of the circuit of one origin.
public struct CircuitEvent: Hashable, Sendable {
    /// A change of a circuit.
    public enum Change: Hashable, Sendable {
        /// Too many requests have failed, or the probe has: no request is sent for this long.
        case opened(pause: Duration)
        /// One request is sent, to see whether the origin has recovered.
        case probed
        /// The probe has succeeded.
        case closed
    }

    /// The origin whose circuit has changed.
    public let origin: HttpOrigin
    /// The change.
    public let change: Change
}

extension CircuitState: CustomStringConvertible {
    /// The state in a few words.
    public var description: String {
        switch self {
        case .closed: "closed"
        case .open(let remaining): "open for \(remaining.brief)"
        case .halfOpen(isProbing: true): "half-open, probing"
        case .halfOpen(isProbing: false): "half-open"
        }
    }
}
