import Nautilus

/// Draws that a test chooses, one after the other; the last one repeats.
///
/// ```swift
/// BackoffRetrier.factory(random: FixedRandomSource(1))  // full jitter at its upper end: the schedule itself
/// ```
public final class FixedRandomSource: RandomSource {
    private let fractions: [Double]
    private let drawn = Locked(0)

    /// Creates a source; values outside `0...1` are given out as they are, to test how they are taken.
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
