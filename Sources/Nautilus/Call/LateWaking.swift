/// The end of a sleep that came far too late: the process was suspended, with a phone in a pocket or by a signal.
///
/// All calls that were due meanwhile wake at the same moment, however their delays were spread.
struct LateWaking {
    /// From here on a sleep counts as too late. Timers are late by milliseconds, those that save power or of a busy
    /// machine by a second.
    static let threshold = Duration.seconds(2)
    /// The longest span: a user who takes the phone out of the pocket waits for it.
    static let longestSpan = Duration.seconds(10)
    /// The shortest: delays that were short are no reason to come all at once.
    static let shortestSpan = Duration.seconds(1)

    /// - Returns: Nil for a sleep that ended in time.
    init?(by lateness: Duration) {
        guard lateness > Self.threshold else { return nil }
    }

    /// The span that the retries are spread over: the delay that they had, which spread them before.
    ///
    /// - Parameter remaining: The time until the call's deadline; half of it is left for the attempt.
    /// - Returns: Zero when nothing is left.
    func span(after delay: Duration, remaining: Duration?) -> Duration {
        let span = min(max(delay, Self.shortestSpan), Self.longestSpan)
        return remaining.map { max(.zero, min(span, $0 / 2)) } ?? span
    }
}

extension LateWaking {
    /// Sleeps before a retry; longer when the process was suspended meanwhile, and all that slept in it wake at once.
    ///
    /// - Parameters:
    ///   - delay: For how long.
    ///   - stopwatch: Runs on `clock`, since the call began.
    ///   - deadline: How long the call may take, by the stopwatch; nil for no limit.
    ///   - spread: Draws a random part of a span.
    /// - Throws: `CancellationError`, also when the deadline has passed.
    static func sleep(
        for delay: Duration,
        on clock: any Clock<Duration>,
        _ stopwatch: Stopwatch,
        deadline: Duration?,
        spread: (Duration) -> Duration
    ) async throws {
        var left = delay.addable
        while left > .zero {
            let due = stopwatch.elapsed + left
            try await clock.sleep(for: left)
            let now = stopwatch.elapsed
            guard let span = LateWaking(by: now - due)?.span(after: delay, remaining: deadline.map { $0 - now }) else {
                break
            }
            // Its timer rings as late as this sleep's, and may come second.
            if span <= .zero { throw CancellationError() }
            left = min(span, max(.zero, spread(span)))
        }
        try Task.checkCancellation()
    }
}
