import Nautilus

/// The server's end of one web socket of a ``ScriptedWebSocketTransport``.
public final class ScriptedWebSocket: Sendable {
    /// The opening request.
    public let request: HttpRequest
    let toServer: MessageChannel
    let toClient: MessageChannel
    private let state = Locked((pings: 0, closure: WebSocketClosure?.none))

    init(_ request: HttpRequest, capacity: Int) {
        self.request = request
        self.toServer = MessageChannel(capacity: capacity)
        self.toClient = MessageChannel(capacity: capacity)
    }

    /// Waits for the client's next message.
    ///
    /// - Throws: `WebSocketClosure`, when the client has closed the socket; `CancellationError`.
    public func receive() async throws -> WebSocketMessage { try await toServer.take() }

    /// Sends a message; waits while the client reads too slowly.
    ///
    /// - Throws: The same as ``receive()``.
    public func send(_ message: WebSocketMessage) async throws { try await toClient.put(message) }

    /// Closes the socket; the client can still read what was sent before.
    public func close(_ code: WebSocketClosure.Code, reason: String = "") {
        let closure = WebSocketClosure(code, reason: reason)
        toClient.end(closure)
        toServer.end(closure, dropping: true)
    }

    /// Breaks the connection without a closing handshake.
    public func drop() {
        let error = TransportError(.networkConnectionLost)
        toClient.end(error)
        toServer.end(error, dropping: true)
    }

    /// How many pings have come. They are answered automatically.
    public var pingCount: Int { state.withLock { $0.pings } }

    /// How the client has closed the socket; nil while it has not.
    public var closure: WebSocketClosure? { state.withLock { $0.closure } }

    func clientPings() { state.withLock { $0.pings += 1 } }

    func clientCloses(_ closure: WebSocketClosure) {
        state.withLock { if $0.closure == nil { $0.closure = closure } }
        toServer.end(closure)
        toClient.end(closure, dropping: true)
    }
}

/// The client's end of a scripted web socket.
final class ScriptedWebSocketConnection: WebSocketConnection {
    private let socket: ScriptedWebSocket
    private let serving: Task<Void, Never>

    init(_ socket: ScriptedWebSocket, serving: Task<Void, Never>) {
        self.socket = socket
        self.serving = serving
    }

    deinit {
        socket.clientCloses(WebSocketClosure(.goingAway))
        serving.cancel()
    }

    func send(_ message: WebSocketMessage) async throws { try await socket.toServer.put(message) }

    func receive() async throws -> WebSocketMessage { try await socket.toClient.take() }

    func ping() async throws {
        try Task.checkCancellation()
        if let closure = socket.closure { throw closure }
        socket.clientPings()
    }

    func close(_ closure: WebSocketClosure) async { socket.clientCloses(closure) }
}
