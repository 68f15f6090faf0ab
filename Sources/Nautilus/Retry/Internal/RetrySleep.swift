/// The sleep before a retry, which is extended if it ended far too late because the process was suspended.
///
/// All calls whose delays ended during the suspension wake at the same moment, however their delays were spread.
enum RetrySleep {
    /// The lateness above which a sleep counts as too late. Timers are usually late by milliseconds, and by a second
    /// when they save power or the machine is busy.
    static let lateness = Duration.seconds(2)
    /// The longest span: the user who has taken the phone out of the pocket is waiting.
    static let longestSpan = Duration.seconds(10)
    /// The shortest span: even retries with short delays must not all come at once.
    static let shortestSpan = Duration.seconds(1)

    /// The span over which the retries are spread after a sleep that ended too late: their original delay, within the
    /// bounds above.
    ///
    /// - Parameters:
    ///   - delay: The original delay.
    ///   - lateness: How late the sleep ended.
    ///   - remaining: The time until the call's deadline; half of it is left for the attempt.
    /// - Returns: Nil if the sleep ended in time; zero when no time is left.
    static func span(after delay: Duration, lateBy lateness: Duration, remaining: Duration?) -> Duration? {
        guard lateness > Self.lateness else { return nil }
        let span = min(max(delay, shortestSpan), longestSpan)
        return remaining.map { max(.zero, min(span, $0 / 2)) } ?? span
    }

    /// Sleeps before a retry, and longer if the process was suspended meanwhile, since then all sleeping calls wake at
    /// once.
    ///
    /// - Parameters:
    ///   - delay: How long to sleep.
    ///   - stopwatch: Measures the time since the call began, on the clock of the sleep.
    ///   - deadline: How long the call may take, by the stopwatch; nil for no limit.
    ///   - nap: Sleeps for a duration. If it returns early, the whole sleep ends.
    ///   - spread: Draws a random part of a span.
    /// - Throws: `CancellationError`, also when the deadline has passed.
    static func sleep(
        for delay: Duration,
        _ stopwatch: Stopwatch,
        deadline: Duration?,
        nap: (Duration) async throws -> Void,
        spread: (Duration) -> Duration
    ) async throws {
        var left = delay.clampedToCentury
        while left > .zero {
            let due = stopwatch.elapsed + left
            try await nap(left)
            let now = stopwatch.elapsed
            guard let span = span(after: delay, lateBy: now - due, remaining: deadline.map { $0 - now }) else { break }
            // No time is left; the deadline's timer rings as late as this sleep ended, and may come second.
            if span <= .zero { throw CancellationError() }
            left = min(span, max(.zero, spread(span)))
        }
        try Task.checkCancellation()
    }
}
