/// A small generator whose draws follow from its seed alone (SplitMix64), so that a run can be repeated.
///
/// Predictable by design: the tokens of a demo server are no secrets.
struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator.
    ///
    /// - Parameters:
    ///   - seed: The seed of the whole run.
    ///   - stream: Tells apart the generators of one run; the same stream draws the same values.
    init(seed: UInt64, stream: UInt64 = 0) {
        self.state = seed
        self.state = next() ^ stream
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
