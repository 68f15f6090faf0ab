import Foundation
import Nautilus

/// A transport that opens web sockets whose other end is a script: the server of a test, without a network.
///
/// ```swift
/// let transport = ScriptedWebSocketTransport(
///     .decline(401),
///     .accept { socket in
///         while true { try await socket.send(socket.receive()) }
///     }
/// )
/// …
/// #expect(transport.requests.count == 2)
/// ```
public final class ScriptedWebSocketTransport: WebSocketTransport {
    /// The outcome of one attempt to open a web socket.
    public struct Opening: Sendable {
        enum Step: Sendable {
            case accept(@Sendable (ScriptedWebSocket) async throws -> Void)
            case decline(HttpResponse<Data>)
            case fail(any Error)
            case hang
        }

        let step: Step

        /// The socket is opened and served by a script. When the script returns, the socket is closed with 1000; when
        /// it throws, the connection breaks.
        public static func accept(_ serve: @escaping @Sendable (ScriptedWebSocket) async throws -> Void) -> Opening {
            Opening(step: .accept(serve))
        }

        /// The request is answered without opening a socket.
        ///
        /// - Parameters:
        ///   - status: The status code.
        ///   - header: The header. Default: none.
        public static func decline(_ status: Int, header: HttpHeader = [:]) -> Opening {
            Opening(step: .decline(HttpResponse(status: status, header: header, body: Data())))
        }

        /// No answer, because the network fails.
        public static func fail(_ code: URLError.Code) -> Opening {
            Opening(step: .fail(TransportError(code)))
        }

        /// No answer until the task is cancelled.
        public static let hang = Opening(step: .hang)
    }

    private struct State {
        var openings: [Opening]
        var requests: [HttpRequest] = []
        var sockets: [ScriptedWebSocket] = []
    }

    private let capacity: Int
    private let state: Locked<State>

    /// Creates a transport with a script.
    ///
    /// - Parameters:
    ///   - openings: One for each attempt, in order; further attempts fail with ``ScriptedTransport/Exhausted``.
    ///   - capacity: How many messages each direction of a socket holds before its sender waits. Default: 1, so that a
    ///     test shows which side is held up.
    public init(_ openings: Opening..., capacity: Int = 1) {
        self.capacity = capacity
        self.state = Locked(State(openings: openings))
    }

    /// Every opening request, in order.
    public var requests: [HttpRequest] { state.withLock { $0.requests } }

    /// The server's ends of all sockets that were opened, in order.
    public var sockets: [ScriptedWebSocket] { state.withLock { $0.sockets } }

    /// Opens a socket as the script says.
    ///
    /// - Throws: The script's error, ``ScriptedTransport/Exhausted`` when no openings are left, `CancellationError`.
    public func open(_ request: HttpRequest, context: TransportContext) async throws -> WebSocketOpening {
        try Task.checkCancellation()
        let (opening, count) = state.withLock { state in
            state.requests.append(request)
            return (state.openings.isEmpty ? nil : state.openings.removeFirst(), state.requests.count - 1)
        }
        switch opening?.step {
        case nil: throw ScriptedTransport.Exhausted(request: request, replyCount: count)
        case .fail(let error): throw error
        case .decline(let response): return .declined(response)
        case .hang:
            // A stream that never gets an element ends only with the task.
            for await _ in AsyncStream<Never>(Never.self, { _ in }) {}
            throw CancellationError()
        case .accept(let serve):
            let socket = ScriptedWebSocket(request, capacity: capacity)
            state.withLock { $0.sockets.append(socket) }
            let serving = BackgroundTask.start {
                do {
                    try await serve(socket)
                    socket.close(.normalClosure)
                } catch {
                    socket.drop()
                }
            }
            return .opened(ScriptedWebSocketConnection(socket, serving: serving), header: ["Upgrade": "websocket"])
        }
    }
}
