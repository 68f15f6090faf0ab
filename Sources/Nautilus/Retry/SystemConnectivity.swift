/// Connectivity as the system reports it: on Apple's platforms, whether there is a path by which data can leave the
/// device; elsewhere ``AlwaysOnline``.
///
/// One monitor serves the whole process, started when the first value of this type is created. Wi-Fi without internet
/// access counts as online: only requests can tell how far it reaches.
public struct SystemConnectivity: Connectivity {
    #if canImport(Network)
        private static let path: any Connectivity = PathConnectivity()
    #else
        private static let path: any Connectivity = AlwaysOnline()
    #endif

    /// Creates the connectivity; all instances are alike.
    public init() {
        // The monitor takes a moment for its first report; started here, it has made it by the first failure.
        _ = Self.path
    }

    /// Whether there is a path; always true in a simulation, which has no device.
    public var isOnline: Bool { Self.isSimulated || Self.path.isOnline }

    /// Returns when there is a path; at once when there is one already.
    ///
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    public func waitUntilOnline() async throws {
        if Self.isSimulated { return try Task.checkCancellation() }
        try await Self.path.waitUntilOnline()
    }

    private static var isSimulated: Bool { BackgroundTask.starter != nil }
}
