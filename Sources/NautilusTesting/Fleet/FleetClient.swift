import Nautilus

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
