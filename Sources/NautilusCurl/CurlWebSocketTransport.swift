#if os(Linux)
    internal import CNautilusCurl
    import Foundation
    import NautilusHTTP
    import FoundationNetworking

    /// Opens web sockets over libcurl. The default on Linux, where Foundation has no web sockets.
    ///
    /// libcurl makes the connection, with the proxies and the TLS settings of a ``CurlTransport``, whose thread also
    /// serves it. The protocol above (RFC 6455) is this library's own, without extensions: messages are not compressed.
    /// ```swift
    /// let sockets = CurlWebSocketTransport(configuration: .init(messageLimit: 1_048_576))
    /// ```
    /// It follows no redirects, retries nothing, and has a timeout only for connecting. An open socket does not count
    /// among the connections of its ``CurlTransport``. `send` returns when the system has taken all of the message;
    /// cancelling it stops only a message that has not begun. At most ``Configuration/messagesAhead`` messages are read
    /// ahead. The guide `WebSockets` says what happens if the server breaks the rules.
    public struct CurlWebSocketTransport: WebSocketTransport {
        /// An instance for the whole process, over ``CurlTransport/shared`` and with the default ``Configuration``.
        public static let shared = CurlWebSocketTransport()

        /// The choices about this transport.
        public let configuration: Configuration
        private let transport: CurlTransport

        /// Creates a transport. It does not keep sockets open: a socket lives as long as it is referenced.
        ///
        /// - Parameters:
        ///   - transport: The transport whose thread serves the sockets, and whose ``CurlTransport/Configuration`` says
        ///     how connections are made: route, trust, addresses, and the limits for connecting and for the answer's
        ///     header. Default: the shared one.
        ///   - configuration: Choices about web sockets; every default gives its reason at the property.
        public init(over transport: CurlTransport = .shared, configuration: Configuration = Configuration()) {
            self.transport = transport
            self.configuration = configuration
        }

        /// Sends the opening request once; see `WebSocketTransport.open(_:context:)`.
        ///
        /// - Throws: `TransportError`, `notSent` if not a byte of the request was written; `HttpRequest.Invalid` for a
        ///   header or a body that cannot be sent; `CancellationError`, at once when the task is cancelled.
        public func open(_ request: HttpRequest, context: TransportContext) async throws -> WebSocketOpening {
            let key = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
            let opening = try WebSocketOpeningRequest(request, key: key)
            try Task.checkCancellation()
            let socket = try socket(opening) { request.refusal }
            do {
                switch try await socket.caller.answer(start: socket.wake) {
                case .opened(let header): return .opened(CurlWebSocketConnection(socket), header: header)
                case .declined(var response):
                    response.url = request.url
                    return .declined(response)
                }
            } catch {
                // The socket keeps the loop alive, so it has to release it.
                socket.cut()
                throw error
            }
        }

        private func socket(
            _ request: WebSocketOpeningRequest,
            endOfSession: @escaping @Sendable () -> (any Error)?
        ) throws -> CurlSocket {
            let reference = try transport.runningLoop()
            let configuration = transport.configuration
            guard let handle = CurlHandle(headerLimit: configuration.headerLimit) else { throw TransportError.unusable }
            handle.prepare { configuration.apply(to: handle, isSecure: request.origin.scheme == "wss") }
            configuration.applyAddresses(to: handle, of: request.origin)
            handle.setUrl(request.connectionUrl)
            handle.set(NAUTILUS_CURL_CONNECT_ONLY, 1)
            // Each socket has a connection of its own, and a tunnel if there is a proxy.
            handle.set(NAUTILUS_CURL_FRESH_CONNECT, 1)
            handle.set(NAUTILUS_CURL_HTTPPROXYTUNNEL, 1)
            guard handle.isComplete else {
                let reason = "libcurl does not take a setting of the transport's."
                throw TransportError.failed(.cannotConnectToHost, delivery: .notSent, reason: reason)
            }
            let limit = configuration.headerLimit
            return CurlSocket(
                request,
                handle,
                reference,
                headerLimit: limit,
                configuration: self.configuration,
                endOfSession: endOfSession
            )
        }
    }

    extension CurlWebSocketTransport {
        /// The choices about a ``CurlWebSocketTransport``.
        public struct Configuration: Sendable {
            /// The largest message that is accepted, in bytes, all its fragments together. A frame that exceeds it
            /// closes the socket with 1009 before any of its payload is kept.
            ///
            /// 16 MiB, far above what is usually sent as one message, but bounded, since each message is in memory as a
            /// whole.
            public var messageLimit: Int
            /// How many messages may wait for the reader before no more are read; less than 1 counts as 1. Reading also
            /// stops when the waiting messages have 256 KiB, however few they are.
            ///
            /// 16, so that pings are answered while the reader is busy for a moment.
            public var messagesAhead: Int
            /// How many bytes of the body are kept if the server answers with a status other than 101; the rest is cut
            /// off.
            ///
            /// 64 KiB, enough for a server's account of its refusal.
            public var declinedBodyLimit: Int
            /// How long the server may take to end the connection after the socket has been closed; then the connection
            /// is cut.
            ///
            /// 5 s; only the `close` of a socket whose server does not read waits that long.
            public var closeTimeout: Duration

            /// Creates a configuration; every default gives its reason at the property.
            public init(
                messageLimit: Int = 16_777_216,
                messagesAhead: Int = 16,
                declinedBodyLimit: Int = 65_536,
                closeTimeout: Duration = .seconds(5)
            ) {
                self.messageLimit = messageLimit
                self.messagesAhead = messagesAhead
                self.declinedBodyLimit = declinedBodyLimit
                self.closeTimeout = closeTimeout
            }
        }
    }

    /// An open web socket, for its callers. Releasing it closes the socket.
    private final class CurlWebSocketConnection: WebSocketConnection {
        private let socket: CurlSocket

        init(_ socket: CurlSocket) {
            self.socket = socket
        }

        deinit {
            beginClosing(WebSocketClosure(.goingAway))
        }

        func send(_ message: WebSocketMessage) async throws {
            try await socket.channel.send(message, wake: socket.wake)
        }

        func receive() async throws -> WebSocketMessage {
            do {
                return try await socket.channel.receive(wake: socket.wake)
            } catch is CancellationError {
                // A reader that has left is not told about the end.
                beginClosing(WebSocketClosure(.goingAway))
                throw CancellationError()
            }
        }

        func ping() async throws {
            try await socket.channel.ping(wake: socket.wake)
        }

        func close(_ closure: WebSocketClosure) async {
            beginClosing(closure)
            // A cancelled caller does not wait, but the socket closes nevertheless.
            try? await socket.channel.waitForClosing(wake: socket.wake)
        }

        private func beginClosing(_ closure: WebSocketClosure) {
            socket.channel.beginClosing(closure)
            socket.wake()
        }
    }

    extension WebSocketOpeningRequest {
        /// The URL that libcurl connects to, since a web socket begins as an HTTP request (RFC 6455 §1.3).
        fileprivate var connectionUrl: String {
            // "ws://a" becomes "http://a", and "wss://a" "https://a".
            "http" + origin.description.dropFirst(2) + "/"
        }
    }
#endif
