import Nautilus

/// The server's report of one of its limits: how many more requests it takes, and until when.
///
/// Kept apart from its partition's key in descriptions: how a server chooses that is its own affair.
struct RateLimit: Hashable, Sendable {
    /// The policy's name; empty for the older fields, which have none.
    var policy: String
    /// The partition of the quota that the request belongs to, as the server wrote it; nil when it names none.
    var partition: String?
    /// How many more requests it takes within the window; never negative.
    var remaining: Int
    /// How long until that changes, from when the response came; nil when it is not said.
    var reset: Duration?
    /// How many requests a whole window takes; nil when it is not said, or counted in something else.
    var quota: Int?
    /// How long a whole window is; nil when it is not said.
    var window: Duration?
}

extension RateLimit: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The figures, without the partition's key.
    var description: String {
        "\(remaining) of \(quota.map(String.init) ?? "?") left" + (reset.map { " for \($0.brief)" } ?? "")
    }

    /// The same as ``description``.
    var debugDescription: String { description }

    /// Shows the description.
    var customMirror: Mirror { Mirror(self, children: ["limit": description]) }
}
