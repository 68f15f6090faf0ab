/// How a command went: names and numbers, no secrets.
public struct SessionOutcome: Codable, Hashable, Sendable {
    /// The kinds of the error, the outermost first; empty for success.
    public var failure: [String] = []
    /// Which access tokens went to the server, by the number of their issue, one for each attempt.
    public var sent: [Int] = []
    /// The session's events since the last outcome. Only for a command that waits for an event, and at the process's end.
    public var events: [String] = []
    /// The process identifier of a child.
    public var child: Int32?
    /// Which calls of the system have been noted, in their order: the call, and the file's name without what differs from
    /// one to the next, as in `rename .json`.
    public var calls: [String] = []

    /// Creates an outcome: success, until something else is known.
    public init() {}
}
