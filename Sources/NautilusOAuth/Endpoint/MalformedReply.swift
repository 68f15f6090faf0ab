/// A fault in a reply of the authorization server, in words that repeat nothing of it.
struct MalformedReply: Error, Hashable {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
