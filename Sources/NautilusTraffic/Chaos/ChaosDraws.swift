import Nautilus

/// The draws for one request: the same for the same seed and number, whatever happens to other requests.
///
/// SplitMix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014. Not for secrets.
struct ChaosDraws: Sendable {
    private var state: UInt64

    init(seed: UInt64, number: Int) {
        // Mixed first: neighbouring numbers would give the same draws, one place apart.
        state = Self.mixed(seed &+ Self.mixed(UInt64(bitPattern: Int64(number))))
    }

    /// Whether something that happens at `rate` happens now: never at 0, always at 1.
    mutating func strikes(at rate: Double) -> Bool {
        nextFraction() < rate
    }

    /// One draw, uniform in `0..<1`, in steps of 2⁻⁵³.
    mutating func nextFraction() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Double(Self.mixed(state) >> 11) * 0x1p-53
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
