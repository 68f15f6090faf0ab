import Foundation

/// One message over a web socket (RFC 6455 §5.6).
public enum WebSocketMessage: Hashable, Sendable {
    /// Text, as UTF-8.
    case text(String)
    /// Bytes.
    case data(Data)

    /// The message's bytes, whichever kind it is.
    public var bytes: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .data(let data): data
        }
    }
}

extension WebSocketMessage: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind and the size in bytes, never the content.
    public var description: String {
        switch self {
        case .text(let text): "a text of \(text.utf8.count) bytes"
        case .data(let data): "\(data.count) bytes"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows the description.
    public var customMirror: Mirror { Mirror(self, children: ["message": description]) }
}
