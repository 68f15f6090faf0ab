import Foundation

/// The time of everything that is given no clock: the system's, and within a simulation of the test kit that
/// simulation's.
///
/// It is the default of every `clock` and `wallClock`, so that a test in a simulation need name none.
public enum DefaultClock {
    /// `ContinuousClock()`; in a simulation its clock.
    public static var current: any Clock<Duration> { SimulatedSystem.current?.clock ?? ContinuousClock() }

    /// `Date()`; in a simulation the date of its beginning, and what its clock has run since.
    public static var date: Date { SimulatedSystem.current?.date ?? Date() }
}

/// What a simulation of the test kit has in place of the system's clocks and of its random numbers.
package struct SimulatedSystem: Sendable {
    @TaskLocal package static var current: SimulatedSystem?

    let clock: any Clock<Duration>
    let random: any RandomSource
    private let stopwatch: Stopwatch
    private let beginning = Date()

    package init(clock: any Clock<Duration>, random: any RandomSource) {
        (self.clock, self.random) = (clock, random)
        self.stopwatch = Stopwatch(clock)
    }

    var date: Date { beginning.addingTimeInterval(stopwatch.elapsed / .seconds(1)) }
}
