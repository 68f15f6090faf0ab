import Foundation

/// The time for everything that is given no clock: the system's or, within a simulation of the test kit, the
/// simulation's.
///
/// It is the default of every `clock` and `wallClock`, so that a test in a simulation need not pass a clock.
public enum DefaultClock {
    /// `ContinuousClock()`; in a simulation, the simulation's clock.
    public static var current: any Clock<Duration> { SimulatedSystem.current?.clock ?? ContinuousClock() }

    /// `Date()`; in a simulation, its start date plus the time that its clock has run.
    public static var date: Date { SimulatedSystem.current?.date ?? Date() }
}

extension Duration {
    /// The time from now, by ``DefaultClock/date``, until `date`: the lifetime of a credential whose server names its
    /// end.
    ///
    /// Negative for a date in the past. At most a hundred years in either direction, since `Duration.seconds(_:)` traps
    /// on a date that is far enough off, and servers send all kinds of dates; zero for a date that is not a number.
    public static func until(_ date: Date) -> Duration {
        let seconds = date.timeIntervalSince(DefaultClock.date)
        guard !seconds.isNaN else { return .zero }
        let century = Double(Duration.secondsOfCentury)
        return .seconds(min(max(seconds, -century), century))
    }
}
