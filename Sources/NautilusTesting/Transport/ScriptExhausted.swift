import Nautilus

/// A ``ScriptedTransport`` was sent more attempts than its script has replies.
public struct ScriptExhausted: Error, CustomStringConvertible {
    /// The request that found no reply.
    public let request: HttpRequest
    /// How many replies the script had.
    public let replyCount: Int

    /// Names the request, and what to do.
    public var description: String {
        """
        The script has \(replyCount) replies and all are used, but \(request) was sent. \
        Add a reply, or pass `afterLast: .repeat`.
        """
    }
}
