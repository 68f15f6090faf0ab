import Foundation
import Nautilus

extension ServiceConfiguration {
    /// The configuration of calls that open web sockets. Everything except the transport is the service's own.
    ///
    /// An opening thus takes the path of every call: headers, interceptors, credential, redirects, retries.
    func forWebSocket() -> (ServiceConfiguration, WebSocketHandshake) {
        let handshake = WebSocketHandshake(transport: webSocketTransport)
        var configuration = self
        (configuration.apiUrl, configuration.transport) = (WebSocketBase(base: apiUrl), handshake)
        return (configuration, handshake)
    }
}

/// A base URL whose scheme may be `ws` or `wss`.
struct WebSocketBase: UrlConvertible {
    let base: any UrlConvertible

    var urlString: String { base.urlString.asHttpUrl }
}

/// A stream request as the call that opens its web socket.
struct WebSocketCall<R: StreamRequest>: Request, RequestOfAnother {
    /// An open connection, which closes itself when released.
    struct Result: Sendable {
        let connection: any WebSocketConnection
    }

    let request: R
    let handshake: WebSocketHandshake

    var declared: Any { request }
    var url: (any UrlConvertible)? { request.url.map { WebSocketBase(base: $0) } }
    var usesSecureProtocol: Bool? { request.usesSecureProtocol }
    var route: HttpRoute { request.route }
    var query: HttpQuery { request.query }
    var timeout: Duration? { request.timeout }
    var acceptedStatusCodes: HttpStatusCodes { 101 }
    /// Always true: the socket follows the header, and no interceptor may keep it or share it between calls.
    var streamsResponse: Bool { true }

    var header: HttpHeader {
        var header = request.header
        if !request.subprotocols.isEmpty {
            header["Sec-WebSocket-Protocol"] = request.subprotocols.joined(separator: ", ")
        }
        return header
    }

    func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> Result { try decode(Data()) }

    func decode(_ data: Data) throws -> Result {
        // An interceptor that has answered by itself has not opened a connection.
        guard let connection = handshake.take() else { throw TransportError(.badServerResponse) }
        return Result(connection: connection)
    }
}

/// A transport that opens a web socket where a call expects an exchange: the answer is the 101, and the connection
/// waits for `take()`.
struct WebSocketHandshake: HttpTransport {
    let transport: any WebSocketTransport
    /// The connection that was opened but not yet taken.
    private let opened = Locked<(any WebSocketConnection)?>(nil)

    init(transport: any WebSocketTransport) {
        self.transport = transport
    }

    func take() -> (any WebSocketConnection)? { opened.withLock { $0.take() } }

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        _ = take()
        var handshake = request
        handshake.url = request.url.withWebSocketScheme
        switch try await transport.open(handshake, context: context) {
        case .opened(let connection, let header):
            opened.withLock { $0 = connection }
            return HttpResponse(status: 101, header: header, body: Data(), url: request.url)
        case .declined(var response):
            response.url = request.url
            return response
        }
    }
}

extension URL {
    fileprivate var withWebSocketScheme: URL {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        components.scheme = scheme?.lowercased() == "http" ? "ws" : "wss"
        return components.url ?? self
    }
}
