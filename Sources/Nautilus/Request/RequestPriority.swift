/// How urgent a request is among those waiting for a connection.
public enum RequestPriority: Int, Hashable, Sendable, CaseIterable, Comparable {
    /// Work that no person waits for.
    case low
    /// The default.
    case normal
    /// A person waits.
    case high

    /// Orders by urgency.
    public static func < (left: RequestPriority, right: RequestPriority) -> Bool {
        left.rawValue < right.rawValue
    }
}
