import Foundation

/// Opens web sockets: no redirects, no retries, no policy, as an ``HttpTransport`` does for exchanges.
///
/// ```swift
/// struct Offline: WebSocketTransport {
///     func open(_ request: HttpRequest, context: AttemptContext) async throws -> WebSocketOpening {
///         throw TransportError(.notConnectedToInternet)
///     }
/// }
/// ```
public protocol WebSocketTransport: Sendable {
    /// Sends the opening request once, and returns the connection or the answer that came in its place.
    ///
    /// Cancelling the task ends the attempt at once, with `CancellationError`. Timeouts are the caller's.
    ///
    /// - Parameters:
    ///   - request: A GET to a URL with the scheme `wss` or `ws`. The fields of the handshake itself are the
    ///     transport's, but for `Sec-WebSocket-Protocol`.
    ///   - context: The facts about the attempt that the transport may know.
    /// - Throws: ``TransportError``; ``InvalidRequest``; `CancellationError`.
    func open(_ request: HttpRequest, context: AttemptContext) async throws -> WebSocketOpening
}

/// The result of an attempt to open a web socket.
public enum WebSocketOpening: Sendable {
    /// It is open; the header is that of the 101.
    case opened(any WebSocketConnection, header: HttpHeader)
    /// The server has answered otherwise: 401, a redirect, 503.
    case declined(HttpResponse<Data>)
}

/// One open web socket. Releasing it closes it.
public protocol WebSocketConnection: Sendable {
    /// Sends one message; returns when the connection takes more, so that a fast sender is held up. After any error but
    /// a cancellation the connection is of no more use: ``receive()`` throws, too, behind the messages that have come.
    ///
    /// - Throws: ``WebSocketClosure``; ``TransportError``, with the delivery `notSent` when the connection had broken
    ///   off before, so that another one may take the message; `CancellationError`.
    func send(_ message: WebSocketMessage) async throws
    /// Waits for the next message. Called by one task at a time; unwanted messages are not read, beyond a bounded
    /// number. Pings are answered meanwhile.
    ///
    /// - Throws: ``WebSocketClosure`` behind the last message; ``TransportError`` when the connection has broken off;
    ///   `CancellationError`, after which the connection is of no more use.
    func receive() async throws -> WebSocketMessage
    /// Sends a ping and waits for its pong (RFC 6455 §5.5.2), which comes only while a task receives.
    ///
    /// - Throws: The errors of ``send(_:)``.
    func ping() async throws
    /// Closes it; waiting callers get an error. Only the first closing counts.
    func close(_ closure: WebSocketClosure) async
}

/// A transport for platforms without web sockets, which opens none: Foundation has some on Apple's platforms alone, and
/// on Linux it takes a libcurl that can be used.
public struct WebSocketsUnavailable: WebSocketTransport, Error, CustomStringConvertible {
    /// Why there are none, in words for people; nil where Foundation's lack is the only reason.
    public let reason: String?

    /// Creates it.
    ///
    /// - Parameter reason: Why there are none, besides Foundation's lack. Default: nil, nothing besides.
    public init(reason: String? = nil) {
        self.reason = reason
    }

    /// Always fails.
    ///
    /// - Throws: Itself.
    public func open(_ request: HttpRequest, context: AttemptContext) async throws -> WebSocketOpening {
        throw self
    }

    /// The lack, its reason, and its remedy.
    public var description: String {
        "Foundation has no web sockets on this platform\(reason.map { ", and \($0)" } ?? ""); give the service a "
            + "webSocketTransport that is built on another client."
    }
}
