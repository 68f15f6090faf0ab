/// Connectivity as the system knows it: on Apple's platforms, whether there is a path by which anything can leave the
/// device; elsewhere ``AlwaysOnline``.
///
/// There is one monitor for the whole process, and it begins with the first value of this type. Wi-Fi without the
/// internet behind it counts as online: only requests can tell how far it reaches.
public struct SystemConnectivity: Connectivity {
    #if canImport(Network)
        private static let path: any Connectivity = PathConnectivity()
    #else
        private static let path: any Connectivity = AlwaysOnline()
    #endif

    /// Creates it; all are the same.
    public init() {
        // The monitor takes a moment for its first word: by the first failure it has said it.
        _ = Self.path
    }

    /// Whether there is a path; true in a simulation, where no device is.
    public var isOnline: Bool { Self.isSimulated || Self.path.isOnline }

    /// Returns when there is a path; at once when there is.
    ///
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    public func waitUntilOnline() async throws {
        if Self.isSimulated { return try Task.checkCancellation() }
        try await Self.path.waitUntilOnline()
    }

    private static var isSimulated: Bool { BackgroundTask.starter != nil }
}
