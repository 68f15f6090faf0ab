import Nautilus

/// A list of replies, and how many of them have been given.
struct Script: Sendable {
    let replies: [ScriptedReply]
    let afterLast: ScriptedTransport.AfterLast
    private var used = 0

    init(_ replies: [ScriptedReply], afterLast: ScriptedTransport.AfterLast) {
        self.replies = replies
        self.afterLast = afterLast
    }

    /// The reply for one more attempt; nil when the script is exhausted.
    mutating func next() -> ScriptedReply? {
        defer { used += 1 }
        if used < replies.count, !replies[..<used].contains(where: \.isEndless) { return replies[used] }
        if let endless = replies.first(where: \.isEndless) { return endless }
        return afterLast == .repeat ? replies.last : nil
    }
}

/// A method and a path, in which `*` stands for any one component.
struct ScriptRoute: Hashable, Sendable {
    let method: HttpMethod
    let path: String

    func matches(_ request: HttpRequest) -> Bool {
        guard method == request.method else { return false }
        let own = path.split(separator: "/", omittingEmptySubsequences: false)
        let sent = request.url.path(percentEncoded: true).split(separator: "/", omittingEmptySubsequences: false)
        return own.count == sent.count && zip(own, sent).allSatisfy { $0 == "*" || $0 == $1 }
    }
}
