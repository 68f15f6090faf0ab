import Foundation
import Nautilus

/// A web socket of an API, as a value: where it is, and which messages go each way.
///
/// ```swift
/// struct Chat { let room: String }
///
/// extension Chat: JsonStreamRequest {
///     typealias Message = Line
///     typealias Result = Line
///     var route: HttpRoute { ["rooms", room] }
/// }
/// ```
/// Everything has a default except ``Message``, ``Result``, ``encode(_:)`` and ``decode(_:)``. ``encode(_:)`` has one,
/// too, if ``Message`` is `String`, `Data`, `WebSocketMessage` or `Never`, as has ``decode(_:)`` if ``Result`` is one
/// of the first three. A ``JsonStreamRequest`` has both.
public protocol StreamRequest<Message>: Sendable {
    /// The messages that are sent; `Never` for a client that only listens.
    associatedtype Message: Sendable
    /// The messages that are received.
    associatedtype Result: Sendable

    /// A base URL in place of the service's, with the scheme `wss`, `ws`, `https`, `http` or none; nil, the default,
    /// for the service's own.
    var url: (any UrlConvertible)? { get }
    /// Whether a base URL without scheme means `wss`; nil, the default, for the service's choice.
    var usesSecureProtocol: Bool? { get }
    /// The path below the base URL; `[]` if the base URL is the socket's.
    var route: HttpRoute { get }
    /// The query. Default: none.
    var query: HttpQuery { get }
    /// Header fields of the opening request, which override the service's. Default: none.
    var header: HttpHeader { get }
    /// The subprotocols that this end can speak, the preferred one first (RFC 6455 §1.9). Default: none.
    var subprotocols: [String] { get }
    /// How long one attempt to open the web socket may take; nil for no limit. Default: the service's,
    /// `HttpService/timeout`.
    var timeout: Duration? { get }

    /// Makes the message that is sent.
    ///
    /// - Throws: Any error; nothing is sent then, and the sender gets the error.
    func encode(_ message: Message) throws -> WebSocketMessage
    /// Makes a result from a received message.
    ///
    /// - Throws: Any error; the reader gets it as an `HttpError` of kind `decoding`, and may read on.
    func decode(_ message: WebSocketMessage) throws -> Result
    /// Whether the service's retrier is asked for a new connection after `closure`, which is never a normal one.
    ///
    /// Default: `WebSocketClosure/Code/isPassing`. After a connection that broke off, the retrier is always asked.
    func reconnects(after closure: WebSocketClosure) -> Bool
}

extension StreamRequest {
    /// The service's own base URL.
    public var url: (any UrlConvertible)? { nil }
    /// The service's choice.
    public var usesSecureProtocol: Bool? { nil }
    /// No query.
    public var query: HttpQuery { [:] }
    /// No fields.
    public var header: HttpHeader { [:] }
    /// None.
    public var subprotocols: [String] { [] }
    /// The service's.
    public var timeout: Duration? { .ofService }

    /// Whether the closure's code suggests that a new connection may succeed.
    public func reconnects(after closure: WebSocketClosure) -> Bool { closure.code.isPassing }
}

extension StreamRequest where Message == WebSocketMessage {
    /// The message as it is.
    public func encode(_ message: WebSocketMessage) throws -> WebSocketMessage { message }
}

extension StreamRequest where Message == String {
    /// The text.
    public func encode(_ message: String) throws -> WebSocketMessage { .text(message) }
}

extension StreamRequest where Message == Data {
    /// The bytes.
    public func encode(_ message: Data) throws -> WebSocketMessage { .data(message) }
}

extension StreamRequest where Message == Never {
    /// Never called: this end only listens.
    public func encode(_ message: Never) throws -> WebSocketMessage {}
}

extension StreamRequest where Result == WebSocketMessage {
    /// The message as it is.
    public func decode(_ message: WebSocketMessage) throws -> WebSocketMessage { message }
}

extension StreamRequest where Result == String {
    /// The message as UTF-8 text.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for bytes that are not UTF-8.
    public func decode(_ message: WebSocketMessage) throws -> String {
        if case .text(let text) = message { return text }
        guard let text = String(bytes: message.bytes, encoding: .utf8) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "The message is not UTF-8 text."))
        }
        return text
    }
}

extension StreamRequest where Result == Data {
    /// The message's bytes.
    public func decode(_ message: WebSocketMessage) throws -> Data { message.bytes }
}

/// A web socket whose messages are JSON, both ways.
public protocol JsonStreamRequest: StreamRequest where Message: Encodable, Result: Decodable {
    /// The encoder of messages. Default: a new encoder from the service's `HttpService/coders`.
    var encoder: JSONEncoder { get }
    /// The decoder of messages. Default: a new decoder from the service's `HttpService/coders`.
    var decoder: JSONDecoder { get }
}

extension JsonStreamRequest {
    /// A new encoder from the service's coders.
    public var encoder: JSONEncoder { JsonCoders.current.encoder() }
    /// A new decoder from the service's coders.
    public var decoder: JSONDecoder { JsonCoders.current.decoder() }

    /// The message as JSON text.
    public func encode(_ message: Message) throws -> WebSocketMessage {
        .text(String(decoding: try encoder.encode(message), as: UTF8.self))
    }

    /// The message from JSON, whether text or bytes.
    public func decode(_ message: WebSocketMessage) throws -> Result {
        try decoder.decode(Result.self, from: message.bytes)
    }
}
