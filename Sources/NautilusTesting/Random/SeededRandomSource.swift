import Nautilus

/// A source of randomness that is the same for the same seed, so that a test with jitter can be repeated.
///
/// Which of several concurrent tasks gets which draw is not determined, unless the tasks run in a ``Simulation``.
public final class SeededRandomSource: RandomSource {
    private let generator: Locked<SplitMix64>

    /// Creates a source.
    public init(seed: UInt64) {
        self.generator = Locked(SplitMix64(seed: seed))
    }

    /// One draw, uniform in `0..<1`, in steps of 2⁻⁵³.
    public func nextFraction() -> Double {
        generator.withLock { $0.nextFraction() }
    }
}

/// A generator that gives the same numbers for the same seed, for shuffles and random picks in a test.
///
/// ```swift
/// var generator = SeededGenerator(seed: 7)
/// let order = requests.shuffled(using: &generator)
/// ```
/// SplitMix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, with the constants
/// of the reference code at https://prng.di.unimi.it/splitmix64.c. Not for secrets.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var generator: SplitMix64

    /// Creates a generator. Every seed is a good one, including 0.
    public init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    /// The next number, uniform over all of `UInt64`.
    public mutating func next() -> UInt64 { generator.next() }
}

/// A source of draws that a test chooses, one after the other; the last one repeats.
///
/// ```swift
/// BackoffRetrier.factory(.standard.with { $0.random = FixedRandomSource(1) })  // full jitter at its upper end: the schedule itself
/// ```
public final class FixedRandomSource: RandomSource {
    private let fractions: [Double]
    private let drawn = Locked(0)

    /// Creates a source. Values outside `0...1` are returned unchanged, to test how they are handled.
    public init(_ first: Double, _ others: Double...) {
        self.fractions = [first] + others
    }

    /// The next of the chosen values.
    public func nextFraction() -> Double {
        drawn.withLock { drawn in
            defer { drawn += 1 }
            return fractions[min(drawn, fractions.count - 1)]
        }
    }

    /// How often a value was drawn.
    public var drawCount: Int { drawn.withLock { $0 } }
}
