/// The server has answered with something else than events.
public struct NoEventStream: Error, Hashable, Sendable, CustomStringConvertible {
    /// The answer's media type; nil when it names none, or no valid one.
    public let contentType: String?

    /// A description of the failure.
    public var description: String {
        "The answer is no text/event-stream, but \(contentType ?? "without a media type"); check the URL."
    }
}
