/// One call that a ``FleetSimulation`` makes.
public struct FleetCall: Hashable, Sendable {
    /// Its number, from 0, in the order of beginning.
    public let number: Int
    /// The number of the client that makes it, from 0.
    public let client: Int
    /// When it begins, counted from the simulation's start.
    public let start: Duration
}
