/// A generator that gives the same numbers for the same seed: for shuffles and random picks in a test.
///
/// ```swift
/// var generator = SeededGenerator(seed: 7)
/// let order = requests.shuffled(using: &generator)
/// ```
/// SplitMix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, with the constants
/// of the reference code at https://prng.di.unimi.it/splitmix64.c. Not for secrets.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator. Every seed is a good one, 0 included.
    public init(seed: UInt64) {
        self.state = seed
    }

    /// The next number, uniform over all of `UInt64`.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
