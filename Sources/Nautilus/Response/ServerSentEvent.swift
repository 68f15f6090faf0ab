/// One event of a stream of server-sent events.
public struct ServerSentEvent: Hashable, Sendable {
    /// The kind of event; `message` where the server does not say.
    public var type: String
    /// The data; several lines are joined by LF.
    public var data: String
    /// The identifier of the last event that had one, this one included; empty when none had.
    public var id: String

    /// Creates an event, as a test does.
    ///
    /// - Parameters:
    ///   - type: The kind. Default: `message`, as of an event whose server does not say.
    ///   - data: The data.
    ///   - id: The identifier. Default: none.
    public init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}
