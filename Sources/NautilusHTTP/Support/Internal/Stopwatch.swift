/// The time since the stopwatch was made, on an injected clock.
///
/// `any Clock<Duration>` hides the type of its instants; this opens the clock once and keeps only durations.
package struct Stopwatch: Sendable {
    /// The instant from which durations are counted. A stopwatch is copied all the time, and a duration has a fixed
    /// layout, which an instant has not.
    private static let reference = ContinuousClock.now

    private let start: Duration
    /// Reads any clock other than the continuous clock; nil for the continuous clock, which is the usual one.
    private let read: (@Sendable () -> Duration)?

    package init(_ clock: any Clock<Duration>) {
        read = clock is ContinuousClock ? nil : Self.reader(of: clock)
        start = read == nil ? Self.reference.duration(to: .now) : .zero
    }

    /// The time since the stopwatch was made; never negative on a monotonic clock.
    package var elapsed: Duration {
        if let read { return read() }
        return Self.reference.duration(to: .now) - start
    }

    private static func reader<C: Clock<Duration>>(of clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
