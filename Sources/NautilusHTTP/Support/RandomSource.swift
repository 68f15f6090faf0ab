import Foundation

/// A source of random numbers, for jitter above all. It is injected, so that tests can choose every draw.
///
/// A source is shared by all calls of a service and must be safe to use from any of them.
public protocol RandomSource: Sendable {
    /// Returns one draw, uniform in `0...1`. The caller clamps values outside of this range, and takes NaN as 0.
    func nextFraction() -> Double
}

extension RandomSource where Self == SystemRandomNumberGenerator {
    /// The system's generator: the default of every ``RandomSource`` parameter.
    public static var system: SystemRandomNumberGenerator { SystemRandomNumberGenerator() }
}

extension SystemRandomNumberGenerator: RandomSource {
    /// One draw. Within a simulation of the test kit, it depends only on the seed.
    public func nextFraction() -> Double {
        SimulatedSystem.current?.random.nextFraction() ?? Double.random(in: 0...1)
    }
}

/// SplitMix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, with the constants
/// of the reference code at https://prng.di.unimi.it/splitmix64.c. The same seed gives the same numbers; not for
/// secrets.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator. Every seed works equally well, including 0.
    package init(seed: UInt64) {
        state = seed
    }

    /// The next number, uniform over all of `UInt64`.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mixed(state)
    }

    /// One draw, uniform in `0..<1`, in steps of 2⁻⁵³.
    package mutating func nextFraction() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// Maps each number to a different one without a recognisable pattern, even for adjacent numbers.
    package static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension RandomSource {
    package func clampedFraction() -> Double {
        let draw = nextFraction()
        return draw.isNaN ? 0 : min(max(draw, 0), 1)
    }
}

extension UUID {
    /// A random UUID (version 4, RFC 9562 §5.4), from the system's generator.
    ///
    /// On Linux, Foundation opens a file for each of its own, and gives the same one again and again, of zeros, when
    /// the process has no descriptor left. Orders under one `Idempotency-Key`, or users of one session, would be one.
    package static func random() -> UUID {
        var generator = SystemRandomNumberGenerator()
        var bytes: (UInt64, UInt64) = (generator.next(), generator.next())
        return withUnsafeMutableBytes(of: &bytes) { bytes in
            bytes[6] = bytes[6] & 0x0F | 0x40
            bytes[8] = bytes[8] & 0x3F | 0x80
            return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
        }
    }
}
