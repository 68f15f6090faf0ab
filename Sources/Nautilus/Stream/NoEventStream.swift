/// The server has answered with something else than events.
public struct NoEventStream: Error, Hashable, Sendable, CustomStringConvertible {
    /// What it says that it is; nil when it says nothing valid.
    public let contentType: String?

    /// What is wrong.
    public var description: String {
        "The answer is no text/event-stream, but \(contentType ?? "without a media type"); check the URL."
    }
}
