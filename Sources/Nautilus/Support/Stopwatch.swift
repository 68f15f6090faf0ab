/// The time since a moment, on whichever clock was injected.
///
/// `any Clock<Duration>` hides the type of its instants; this opens the clock once and keeps only durations.
package struct Stopwatch: Sendable {
    private let read: @Sendable () -> Duration

    package init(_ clock: any Clock<Duration>) {
        self.read = Self.reader(of: clock)
    }

    /// The time since the stopwatch was made. Never negative on a monotonic clock.
    package var elapsed: Duration { read() }

    private static func reader<C: Clock<Duration>>(of clock: C) -> @Sendable () -> Duration {
        // Nearly every clock is this one, read without its protocol in between: a call reads it several times.
        if C.self == ContinuousClock.self {
            let start = ContinuousClock.now
            return { start.duration(to: .now) }
        }
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
