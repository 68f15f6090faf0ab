/// The calls to make, in their order: drawn from the seed alone.
struct CallPlan: Sendable {
    /// One call.
    enum Call: Hashable, Sendable {
        case list(page: Int)
        case get(id: Int)
        case create(number: Int)
    }

    /// The calls in waves; each begins with a token that the server no longer accepts.
    let waves: [[Call]]

    /// Draws a plan.
    ///
    /// - Parameters:
    ///   - calls: How many calls, at least one per wave.
    ///   - waves: How many times the token is dead at the start.
    ///   - seed: The same seed draws the same plan.
    init(calls: Int, waves: Int, seed: UInt64) {
        var generator = Lcg(state: seed)
        let all = (0..<calls).map { Self.draw(number: $0, using: &generator) }
        let cuts = (0...waves).map { calls * $0 / waves }
        self.waves = zip(cuts, cuts.dropFirst()).map { Array(all[$0..<$1]) }
    }

    var count: Int { waves.reduce(0) { $0 + $1.count } }

    /// Half of the calls read one note, three in ten a page; two in ten create a note.
    private static func draw(number: Int, using generator: inout some RandomNumberGenerator) -> Call {
        switch Int.random(in: 0..<10, using: &generator) {
        case ..<5: .get(id: .random(in: 1...30, using: &generator))
        case ..<8: .list(page: .random(in: 1...3, using: &generator))
        default: .create(number: number + 1)
        }
    }
}

/// Knuth's generator, ample for a mix of calls.
private struct Lcg: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        // The low bits of such a generator repeat soon.
        return (state >> 32) | (state << 32)
    }
}
