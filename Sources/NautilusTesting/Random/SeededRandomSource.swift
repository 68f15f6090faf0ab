import Nautilus

/// Randomness that is the same for the same seed, so that a test with jitter can be repeated.
///
/// Tasks that draw at the same time get their draws in an order of their own, unless they run in a ``Simulation``.
public final class SeededRandomSource: RandomSource {
    private let generator: Locked<SeededGenerator>

    /// Creates a source.
    public init(seed: UInt64) {
        self.generator = Locked(SeededGenerator(seed: seed))
    }

    /// One draw, uniform in `0..<1`, in steps of 2⁻⁵³.
    public func nextFraction() -> Double {
        Double(generator.withLock { $0.next() } >> 11) * 0x1p-53
    }
}
