/// Whether the device has a network at all, and when it has one again.
///
/// ``SystemConnectivity`` asks the system, ``AlwaysOnline`` knows no better, and a ``ConnectivitySwitch`` is told: by a
/// test, or by a monitor of the network.
public protocol Connectivity: Sendable {
    /// Whether requests can leave the device; true when that is unknown.
    var isOnline: Bool { get }

    /// Returns when the device is online; at once when it is.
    ///
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    func waitUntilOnline() async throws
}

/// Connectivity that never ends: where the network is unknown, and where no device's network is used.
public struct AlwaysOnline: Connectivity {
    /// Creates it; all are the same.
    public init() {}

    /// True.
    public var isOnline: Bool { true }

    /// Returns at once.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func waitUntilOnline() async throws {
        try Task.checkCancellation()
    }
}
