import Foundation

/// Opens web sockets, as an ``HttpTransport`` makes exchanges: no redirects, no retries, no policy.
///
/// ```swift
/// struct Offline: WebSocketTransport {
///     func open(_ request: HttpRequest, context: TransportContext) async throws -> WebSocketOpening {
///         throw TransportError(.notConnectedToInternet)
///     }
/// }
/// ```
public protocol WebSocketTransport: Sendable {
    /// Sends the opening request once, and returns the connection, or the answer that came instead.
    ///
    /// Cancelling the task ends the attempt at once, with `CancellationError`. The caller applies timeouts.
    ///
    /// - Parameters:
    ///   - request: A GET to a URL with the scheme `wss` or `ws`. The transport sets the fields of the handshake
    ///     itself, except for `Sec-WebSocket-Protocol`.
    ///   - context: The facts about the attempt that the transport may know.
    /// - Throws: ``TransportError``; ``HttpRequest/Invalid``; `CancellationError`.
    func open(_ request: HttpRequest, context: TransportContext) async throws -> WebSocketOpening
}

/// The result of an opening request.
public enum WebSocketOpening: Sendable {
    /// The socket is open; `header` is the header of the 101 response.
    case opened(any WebSocketConnection, header: HttpHeader)
    /// The server has answered with another status, such as 401, a redirect or 503.
    case declined(HttpResponse<Data>)
}

/// An open web socket. Releasing this object closes the socket.
public protocol WebSocketConnection: Sendable {
    /// Sends one message, and returns when the connection is ready for more, so that a fast sender is slowed down.
    /// After any error except a cancellation, the connection is unusable: ``receive()`` returns the messages that have
    /// arrived, and then throws, too.
    ///
    /// - Throws: ``WebSocketClosure``; ``TransportError``, with the delivery `notSent` if the connection was lost
    ///   before, so that the message may be sent over another connection; `CancellationError`.
    func send(_ message: WebSocketMessage) async throws
    /// Waits for the next message. Only one task may call this at a time. The connection reads a limited number of
    /// messages ahead, and answers pings while a task waits.
    ///
    /// - Throws: ``WebSocketClosure`` after the last message; ``TransportError`` if the connection is lost;
    ///   `CancellationError`, after which the connection is unusable.
    func receive() async throws -> WebSocketMessage
    /// Sends a ping and waits for its pong (RFC 6455 §5.5.2), which comes only while a task receives.
    ///
    /// - Throws: The errors of ``send(_:)``.
    func ping() async throws
    /// Closes the socket; waiting callers get an error. Only the first closing counts.
    func close(_ closure: WebSocketClosure) async
}

/// A transport that opens no web sockets, for platforms without them. Foundation has web sockets only on Apple's
/// platforms; on Linux, they need a libcurl that supports them.
package struct WebSocketsUnavailable: WebSocketTransport, Error, CustomStringConvertible {
    /// Why there are no web sockets, as a part of the description; nil if the only reason is that Foundation has none.
    package let reason: String?

    package init(reason: String? = nil) {
        self.reason = reason
    }

    package func open(_ request: HttpRequest, context: TransportContext) async throws -> WebSocketOpening {
        throw self
    }

    package var description: String {
        "Foundation has no web sockets on this platform\(reason.map { ", and \($0)" } ?? ""); give the service a "
            + "webSocketTransport that is built on another client."
    }
}

extension HttpRequest {
    /// Refuses a request that must not open a web socket.
    ///
    /// - Throws: `HttpRequest.Invalid`: the errors of ``HttpRequest/validate()``, or a field of the handshake itself.
    package func validateOpening() throws(HttpRequest.Invalid) {
        try validate()
        for field in header.fields where HttpHeader.openingNames.contains(field.name) {
            throw .reservedHeader(field.name)
        }
    }
}

extension HttpHeader {
    /// The fields of the handshake itself.
    fileprivate static let openingNames: Set<Name> = [
        "Connection", "Upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions",
        "Sec-WebSocket-Accept",
    ]
}
