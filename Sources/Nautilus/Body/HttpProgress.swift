/// How far a body has come.
public struct HttpProgress: Hashable, Sendable {
    /// How many bytes have been sent or received.
    public let completed: Int64
    /// How many they are in all; nil when that is unknown.
    public let total: Int64?

    /// Creates a state of progress, in bytes.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// From 0 to 1; nil when the total is unknown. Nothing of nothing is all of it.
    public var fraction: Double? {
        total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 }
    }
}
