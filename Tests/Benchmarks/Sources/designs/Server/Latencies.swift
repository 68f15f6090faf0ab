import NautilusTesting

/// When calls begin and how long their answers take: the same for all designs, since the seed, the call and the attempt
/// decide, and not which call draws first.
struct Latencies: Sendable {
    /// A refresh takes as long as this, whichever it is.
    static let refresh = Duration.milliseconds(200)

    let seed: UInt64

    /// When a call begins, if all of them do within `span`.
    func start(of call: Int, within span: Duration) -> Duration {
        span * fraction(call, 0)
    }

    /// How long an answer takes: between 250 ms and 3 s.
    func answer(to call: Int, attempt: Int) -> Duration {
        .milliseconds(250) + .milliseconds(2750) * fraction(call, attempt)
    }

    /// How much of it has passed when the server looks at the token: most of the time its work takes, and the way back.
    static func arrival(of answer: Duration) -> Duration {
        answer / 10
    }

    private func fraction(_ call: Int, _ attempt: Int) -> Double {
        var generator = SeededGenerator(seed: seed)
        let stream = generator.next() ^ (UInt64(call) << 32) ^ UInt64(attempt)
        return SeededRandomSource(seed: stream).nextFraction()
    }
}
