#if canImport(Network)
    import Dispatch
    import Network
#endif

/// Whether the device has a network, and when it has one again.
///
/// `.system` asks the system, `.always` always assumes a network, and a ``ConnectivitySwitch`` is set from
/// outside: by a test, or by a monitor of the network.
public protocol Connectivity: Sendable {
    /// Whether requests can leave the device; true when unknown.
    var isOnline: Bool { get }

    /// Returns when the device is online; at once when it is already.
    ///
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    func waitUntilOnline() async throws
}

extension Connectivity where Self == ConnectivitySwitch {
    /// As the system reports it: on Apple's platforms, whether there is a path by which data can leave the device; elsewhere
    /// ``always``. Always online in a simulation, which has no device.
    ///
    /// One monitor serves the whole process, started by the first use. Wi-Fi without internet access counts as online: only
    /// requests can tell how far it reaches.
    public static var system: any Connectivity { SystemConnectivity() }

    /// Always online: for systems that do not report it, and where no device's network is used.
    public static var always: any Connectivity { SystemConnectivity.always }
}

private struct SystemConnectivity: Connectivity {
    #if canImport(Network)
        private static let path: any Connectivity = PathConnectivity()
    #else
        private static let path = always
    #endif
    /// Nobody else has this switch, so nobody sets it.
    static let always: any Connectivity = ConnectivitySwitch()

    init() {
        // The monitor takes a moment for its first report; started here, it has reported by the first failure.
        _ = Self.path
    }

    var isOnline: Bool { path.isOnline }

    func waitUntilOnline() async throws {
        try await path.waitUntilOnline()
    }

    private var path: any Connectivity { SimulatedSystem.current == nil ? Self.path : Self.always }
}

/// Connectivity that is set from outside: by a test, or by a network monitor of your own.
///
/// ```swift
/// let connectivity = ConnectivitySwitch(isOnline: false)
/// connectivity.set(isOnline: true)  // every call that waits for it goes on
/// ```
public final class ConnectivitySwitch: Connectivity {
    private struct State {
        var isOnline: Bool
        var waiters = WaitQueue<Waiter<Void>>()
    }

    private let state: Locked<State>

    /// Creates a switch.
    ///
    /// - Parameter isOnline: The initial state. Default: true, so that a switch that is never set holds up no call.
    public init(isOnline: Bool = true) {
        state = Locked(State(isOnline: isOnline))
    }

    /// The state as it was last set.
    public var isOnline: Bool { state.withLock { $0.isOnline } }

    /// How many calls are waiting.
    public var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// Sets the state; when it is true, all waiting calls go on.
    public func set(isOnline: Bool) {
        let waiters = state.withLock { state in
            state.isOnline = isOnline
            return isOnline ? state.waiters.removeAll() : []
        }
        waiters.forEach { $0.resume() }
    }

    /// Returns when the state is set to online; at once when it is already.
    ///
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    public func waitUntilOnline() async throws {
        try await state.wait(in: \.waiters) { !$0.isOnline }
    }
}

#if canImport(Network)
    /// Connectivity as Apple's systems see it: whether there is a path by which anything can leave the device.
    final class PathConnectivity: Connectivity, @unchecked Sendable {  // Unchecked: used by `init` and `deinit` alone.
        private let monitor = NWPathMonitor()
        /// Online until the monitor's first report, a moment later.
        private let told = ConnectivitySwitch()

        init() {
            monitor.pathUpdateHandler = { [told] path in
                // A path that requires a connection, such as a VPN on demand, gets it by being used: a call that waited
                // for it would wait forever.
                told.set(isOnline: path.status != .unsatisfied)
            }
            monitor.start(queue: DispatchQueue(label: "nautilus.path-connectivity"))
        }

        deinit {
            monitor.cancel()
        }

        var isOnline: Bool { told.isOnline }

        func waitUntilOnline() async throws {
            try await told.waitUntilOnline()
        }
    }
#endif
