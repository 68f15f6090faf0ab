import Nautilus

/// What a client of a ``FleetSimulation`` gives its service: everything that Nautilus takes from the world.
///
/// Each client stands for a process of its own. What processes do not share (a budget, a coordinator, a gate) has to be
/// made for each client, not kept in a static property.
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
