/// Where jitter gets its randomness. Injected, so that tests choose every draw.
///
/// A source is shared by all calls of a service and must be safe to use from any of them.
public protocol RandomSource: Sendable {
    /// One draw, uniform in `0...1`. Values outside are clamped by the caller, and NaN counts as 0.
    func nextFraction() -> Double
}

/// The system's generator: the default of every ``RandomSource`` parameter.
public struct SystemRandomSource: RandomSource {
    /// Creates the source. All instances share the system's generator.
    public init() {}

    /// One draw from the system's generator.
    public func nextFraction() -> Double {
        Double.random(in: 0...1)
    }
}

extension RandomSource {
    package func clampedFraction() -> Double {
        let draw = nextFraction()
        return draw.isNaN ? 0 : min(max(draw, 0), 1)
    }
}
