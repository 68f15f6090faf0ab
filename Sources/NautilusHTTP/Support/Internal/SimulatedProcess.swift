import Foundation

/// A process as a test sees it: with a system and shared values of its own. A simulation of the test kit is one, so that
/// its seed decides everything; a test of several processes makes one for each.
package final class SimulatedProcess: Sendable {
    /// The simulated process that the current task is part of; nil outside of tests.
    @TaskLocal package static var current: SimulatedProcess?

    let system: SimulatedSystem?
    fileprivate let values = Locked<[ObjectIdentifier: any Sendable]>([:])

    /// Creates a process that shares no value with others; a nil `system` means the real one.
    package init(on system: SimulatedSystem? = .current) {
        self.system = system
    }
}

/// The clock, the random numbers and the executor that a simulation uses in place of the system's.
package final class SimulatedSystem: Sendable {
    /// The system of the current simulation; nil outside of simulations.
    package static var current: SimulatedSystem? { SimulatedProcess.current?.system }

    let clock: any Clock<Duration>
    let random: any RandomSource
    package let start: BackgroundTask.Starter
    private let stopwatch: Stopwatch
    private let beginning = Date()

    package init(clock: any Clock<Duration>, random: any RandomSource, start: @escaping BackgroundTask.Starter) {
        (self.clock, self.random, self.start) = (clock, random, start)
        self.stopwatch = Stopwatch(clock)
    }

    var date: Date { beginning.addingTimeInterval(stopwatch.elapsed / .seconds(1)) }
}

/// A value that all users in a process share. Each simulated process makes its own when it first needs it.
package final class OnePerProcess<Value: Sendable>: Sendable {
    private let make: @Sendable () -> Value
    private let ofProcess: Value

    /// Makes the process's own value; `make` must not read the value of another `OnePerProcess`.
    package init(_ make: @escaping @Sendable () -> Value) {
        self.make = make
        // A simulation may be the first to need the value, but its clock is not the process's.
        ofProcess = SimulatedProcess.$current.withValue(nil, operation: make)
    }

    package var value: Value {
        guard let process = SimulatedProcess.current else { return ofProcess }
        return process.values.withLock { values in
            let value = values[ObjectIdentifier(self)] as? Value ?? make()
            values[ObjectIdentifier(self)] = value
            return value
        }
    }
}
