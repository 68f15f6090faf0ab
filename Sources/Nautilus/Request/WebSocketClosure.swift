/// How a web socket was closed by the other side.
public struct WebSocketClosure: Error, Hashable, Sendable {
    /// Why.
    public let code: WebSocketCloseCode
    /// The other side's words for it; empty for none.
    public let reason: String

    /// Creates a closure.
    ///
    /// - Parameters:
    ///   - code: Why.
    ///   - reason: The words for it. Default: none.
    public init(_ code: WebSocketCloseCode, reason: String = "") {
        self.code = code
        self.reason = reason
    }
}

extension WebSocketClosure: CustomStringConvertible, CustomReflectable {
    /// The code; not the reason, in which a server may repeat text that it was sent.
    public var description: String { "The web socket was closed with code \(code.rawValue)." }

    /// Shows the description.
    public var customMirror: Mirror { Mirror(self, children: ["closure": description]) }
}
