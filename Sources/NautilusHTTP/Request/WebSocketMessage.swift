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

extension WebSocketMessage: Redacted {
    /// The kind and the size in bytes, never the content.
    public var description: String {
        switch self {
        case .text(let text): "a text of \(text.utf8.count) bytes"
        case .data(let data): "\(data.count) bytes"
        }
    }
}

/// How a web socket was closed by the other side.
public struct WebSocketClosure: Error, Hashable, Sendable {
    /// Why the web socket was closed.
    public let code: WebSocketClosure.Code
    /// The reason in the other side's words; empty for none.
    public let reason: String

    /// Creates a closure.
    ///
    /// - Parameters:
    ///   - code: Why the web socket was closed.
    ///   - reason: The reason in words. Default: none.
    public init(_ code: WebSocketClosure.Code, reason: String = "") {
        self.code = code
        self.reason = reason
    }
}

extension WebSocketClosure: Redacted {
    /// The code, without the reason, in which a server may repeat text that it was sent.
    public var description: String { "The web socket was closed with code \(code.rawValue)." }
}

extension WebSocketClosure {
    /// Why a web socket is closed (RFC 6455 §7.4).
    public struct Code: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
        /// The code as it goes on the wire.
        public let rawValue: UInt16

        /// Creates a code; 4000…4999 are the application's own.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// Creates a code from a literal.
        public init(integerLiteral value: UInt16) {
            self.rawValue = value
        }

        /// 1000: the connection has served its purpose.
        public static let normalClosure: Code = 1000
        /// 1001: a server is going down, or a user has left.
        public static let goingAway: Code = 1001
        /// 1002: a frame violated the protocol.
        public static let protocolError: Code = 1002
        /// 1003: a message of a kind that is not accepted.
        public static let unsupportedData: Code = 1003
        /// 1005: closed without a code. Never sent.
        public static let noStatusReceived: Code = 1005
        /// 1006: broken off without being closed. Never sent.
        public static let abnormalClosure: Code = 1006
        /// 1007: a message with invalid content, such as text that is not UTF-8.
        public static let invalidPayload: Code = 1007
        /// 1008: a message violated the server's rules.
        public static let policyViolation: Code = 1008
        /// 1009: a message that is too large.
        public static let messageTooBig: Code = 1009
        /// 1010: an extension that the client needs is missing.
        public static let mandatoryExtension: Code = 1010
        /// 1011: the server has failed.
        public static let internalError: Code = 1011
        /// 1012: the service is restarting.
        public static let serviceRestart: Code = 1012
        /// 1013: the server is overloaded.
        public static let tryAgainLater: Code = 1013
        /// 1014: a gateway got no valid answer from the server behind it.
        public static let badGateway: Code = 1014
        /// 1015: the TLS handshake failed. Never sent.
        public static let tlsHandshake: Code = 1015

        /// Whether the socket was closed normally: with 1000, or without a code.
        package var isNormal: Bool { self == .normalClosure || self == .noStatusReceived }

        /// Whether a new connection may succeed, because the server went away or failed and does not blame the client.
        ///
        /// False for 1000, 1002, 1003, 1007 to 1010 and 1015, which the same client would get again, and for codes from
        /// 3000, whose meaning only the application knows (RFC 6455 §7.4.2).
        public var isPassing: Bool {
            switch self {
            case .goingAway, .abnormalClosure, .internalError, .serviceRestart, .tryAgainLater, .badGateway: true
            default: false
            }
        }

        /// Whether the code may be sent: 1000…1014, except the reserved 1004 and the codes that are only reported, 1005
        /// and 1006; and 3000…4999 (RFC 6455 §7.4).
        package var isSendable: Bool {
            switch rawValue {
            case 1004...1006: false
            case 1000...1014, 3000...4999: true
            default: false
            }
        }
    }
}
