import Foundation
import Nautilus
import NautilusTesting

/// The times at which the clients of a ``FleetSimulation`` make their calls, whatever becomes of earlier calls.
///
/// People and their devices do not wait for each other: a slow server gets just as many calls. A load that waited for
/// answers before it went on would hide the very overload that it should show.
public struct FleetLoad: Hashable, Sendable {
    private enum Pattern: Hashable, Sendable {
        case poisson, even, atOnce
    }

    private let pattern: Pattern
    /// How many calls per second the whole fleet makes on average; 0 if all calls are made at once.
    public let callsPerSecond: Double
    /// For how long the fleet makes calls.
    public let duration: Duration

    /// Independent calls, each by a client drawn at random: the load that many people cause.
    ///
    /// - Parameters:
    ///   - callsPerSecond: How many calls the whole fleet makes per second on average; 0…1 000 000.
    ///   - duration: For how long the fleet makes calls.
    public static func poisson(callsPerSecond: Double, for duration: Duration) -> FleetLoad {
        FleetLoad(.poisson, callsPerSecond, duration)
    }

    /// Calls at even intervals, by one client after the other: the gentlest load there is.
    ///
    /// - Parameters:
    ///   - callsPerSecond: How many calls the whole fleet makes per second; 0…1 000 000.
    ///   - duration: For how long the fleet makes calls.
    public static func even(callsPerSecond: Double, for duration: Duration) -> FleetLoad {
        FleetLoad(.even, callsPerSecond, duration)
    }

    /// One call by every client, all at the start: a thundering herd.
    public static let atOnce = FleetLoad(.atOnce, 0, .zero)

    private init(_ pattern: Pattern, _ callsPerSecond: Double, _ duration: Duration) {
        self.pattern = pattern
        // Infinitely many calls would never end.
        self.callsPerSecond = min(max(0, callsPerSecond), 1_000_000)
        self.duration = duration.clampedToCentury
    }

    /// The approximate number of calls.
    func expectedCalls(clients: Int) -> Double {
        pattern == .atOnce ? Double(clients) : callsPerSecond * (duration / .seconds(1))
    }

    /// The calls in the order in which they begin, drawn from the seed alone, so that each policy gets the same calls.
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

    /// A time in whole nanoseconds, which also evens out differences between the mathematical functions of two systems.
    private static func instant(_ seconds: Double) -> Duration {
        .nanoseconds(Int64(min(seconds * 1e9, 9e18).rounded()))
    }
}

/// The parts from which a client of a ``FleetSimulation`` builds its service: everything that Nautilus takes from its
/// environment.
///
/// Each client stands for its own process. Values that processes do not share have to be created for each client: a
/// coordinator, a gate, and in particular a budget. The default budget, `RetryBudgetScope.perOrigin`, is one for
/// the whole simulation, so all clients would share it; give each client's service `.shared(TokenBucketBudget())`
/// instead.
public struct FleetClient: Sendable {
    /// The client's number, from 0.
    public let number: Int
    /// The transport to the server. It counts what is sent.
    public let transport: any HttpTransport
    /// The simulation's clock.
    public let clock: ManualClock
    /// The client's own randomness, for jitter. With the system's randomness, each run would be different.
    public let random: SeededRandomSource
}

/// One call that a ``FleetSimulation`` makes.
public struct FleetCall: Hashable, Sendable {
    /// The call's number, from 0, in the order of beginning.
    public let number: Int
    /// The number of the client that makes it, from 0.
    public let client: Int
    /// When the call begins, counted from the simulation's start.
    public let start: Duration
}
