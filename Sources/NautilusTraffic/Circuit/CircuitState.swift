import Nautilus

/// The state of a ``CircuitBreaker``'s circuit to one origin.
public enum CircuitState: Hashable, Sendable {
    /// They go; their outcomes are counted.
    case closed
    /// None goes, for as long as is left of the pause.
    case open(remaining: Duration)
    /// The pause is over: one goes, to see whether the origin has recovered, and decides for all.
    case halfOpen(isProbing: Bool)
}

/// A change of the circuit of one origin.
public struct CircuitEvent: Hashable, Sendable {
    /// A change of a circuit.
    public enum Change: Hashable, Sendable {
        /// Too many requests have failed, or the probe has: none goes for this long.
        case opened(pause: Duration)
        /// One request goes to see whether the origin has recovered.
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
