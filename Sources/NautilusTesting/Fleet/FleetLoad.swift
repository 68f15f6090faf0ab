import Foundation
import Nautilus

/// The times at which the clients of a ``FleetSimulation`` make their calls, whatever becomes of the calls before.
///
/// People and their devices do not wait for each other: a server that is slow is called no less. A load that waits for
/// answers before it goes on would hide the overload that it should show.
public struct FleetLoad: Hashable, Sendable {
    private enum Pattern: Hashable, Sendable {
        case poisson, even, atOnce
    }

    private let pattern: Pattern
    /// How many calls the whole fleet makes in a second, on average; 0 for calls that are made at once.
    public let callsPerSecond: Double
    /// For how long it makes calls.
    public let duration: Duration

    /// Calls that are independent of each other, each by a client drawn at random: the load that many people make.
    ///
    /// - Parameters:
    ///   - callsPerSecond: How many on average, of the whole fleet; 0…1 000 000.
    ///   - duration: For how long.
    public static func poisson(callsPerSecond: Double, for duration: Duration) -> FleetLoad {
        FleetLoad(.poisson, callsPerSecond, duration)
    }

    /// Calls at even distances, by one client after the other: the kindest load there is.
    ///
    /// - Parameters:
    ///   - callsPerSecond: How many, of the whole fleet; 0…1 000 000.
    ///   - duration: For how long.
    public static func even(callsPerSecond: Double, for duration: Duration) -> FleetLoad {
        FleetLoad(.even, callsPerSecond, duration)
    }

    /// One call by every client, all at the start: a thundering herd.
    public static let atOnce = FleetLoad(.atOnce, 0, .zero)

    private init(_ pattern: Pattern, _ callsPerSecond: Double, _ duration: Duration) {
        self.pattern = pattern
        // Infinitely many would never be over.
        self.callsPerSecond = min(max(0, callsPerSecond), 1_000_000)
        self.duration = duration.clampedToCentury
    }

    /// How many calls there will be, about.
    func expectedCalls(clients: Int) -> Double {
        pattern == .atOnce ? Double(clients) : callsPerSecond * (duration / .seconds(1))
    }

    /// The calls in the order of their beginning, drawn from the seed alone, so that each policy gets the same.
    func calls(clients: Int, seed: UInt64) -> AnySequence<FleetCall> {
        switch pattern {
        case .atOnce: AnySequence((0..<clients).lazy.map { FleetCall(number: $0, client: $0, start: .zero) })
        case .even: AnySequence { evenCalls(clients: clients) }
        case .poisson: AnySequence { poissonCalls(clients: clients, seed: seed) }
        }
    }

    private func evenCalls(clients: Int) -> AnyIterator<FleetCall> {
        var number = 0
        return AnyIterator {
            guard callsPerSecond > 0 else { return nil }
            let start = Self.instant(Double(number) / callsPerSecond)
            guard start < duration else { return nil }
            defer { number += 1 }
            return FleetCall(number: number, client: number % clients, start: start)
        }
    }

    private func poissonCalls(clients: Int, seed: UInt64) -> AnyIterator<FleetCall> {
        var generator = SeededGenerator(seed: seed)
        let random = SeededRandomSource(seed: generator.next())
        var (number, time) = (0, 0.0)
        return AnyIterator {
            guard callsPerSecond > 0 else { return nil }
            time += -log(random.nextPositiveFraction()) / callsPerSecond
            let start = Self.instant(time)
            guard start < duration else { return nil }
            defer { number += 1 }
            return FleetCall(number: number, client: .random(in: 0..<clients, using: &generator), start: start)
        }
    }

    /// In whole nanoseconds, which also evens out what the mathematics of two systems differ by.
    private static func instant(_ seconds: Double) -> Duration {
        .nanoseconds(Int64(min(seconds * 1e9, 9e18).rounded()))
    }
}

/// The parts from which a client of a ``FleetSimulation`` makes its service: everything that Nautilus takes from the
/// world.
///
/// Each client stands for a process of its own. Values that processes do not share have to be made for each client: a
/// coordinator, a gate, and above all a budget. The default one, `RetryBudgetScope.perOrigin`, is the process's, and
/// would be that of the whole fleet and of the run before; give each client's service `.shared(TokenBucketBudget())`
/// instead.
public struct FleetClient: Sendable {
    /// The client's number, from 0.
    public let number: Int
    /// The way to the server. Counts what is sent.
    public let transport: any HttpTransport
    /// The simulation's clock.
    public let clock: ManualClock
    /// The client's own randomness, for jitter. Drawn from the system, it would make each run another one.
    public let random: SeededRandomSource
}

/// One call that a ``FleetSimulation`` makes.
public struct FleetCall: Hashable, Sendable {
    /// Its number, from 0, in the order of beginning.
    public let number: Int
    /// The number of the client that makes it, from 0.
    public let client: Int
    /// When it begins, counted from the simulation's start.
    public let start: Duration
}
