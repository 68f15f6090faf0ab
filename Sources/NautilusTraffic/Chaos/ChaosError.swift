import Nautilus

/// The error underneath a failure that ``Chaos`` has made, so that its cause is not sought on the server.
public struct ChaosError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The seed of the chaos.
    public let seed: UInt64
    /// The number of the request, from 1.
    public let number: Int

    /// The origin of the failure, and the numbers with which to see it again.
    public var description: String { "made by Chaos, request \(number) of seed \(seed)" }
}
