#if canImport(Network)
    import Dispatch
    import Network

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
