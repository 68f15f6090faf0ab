import Foundation
import Nautilus
import ScriptedSockets

/// The asserted part of a failure: its text is for people.
struct Failure: Equatable {
    let code: URLError.Code
    let delivery: Delivery
}

/// Tries to open a socket, once.
func tryOpening(
    _ url: URL,
    header: HttpHeader = [:],
    through transport: any WebSocketTransport = SocketsUnderTest.shared
) async throws -> WebSocketOpening {
    try await transport.open(HttpRequest(url: url, header: header), context: TransportContext())
}

/// Opens a socket.
func openSocket(
    _ url: URL,
    header: HttpHeader = [:],
    through transport: any WebSocketTransport = SocketsUnderTest.shared
) async throws -> any WebSocketConnection {
    switch try await tryOpening(url, header: header, through: transport) {
    case .opened(let connection, _): return connection
    case .declined(let response): throw Declined(status: response.status)
    }
}

/// A server has declined where it should not.
struct Declined: Error {
    let status: Int
}

/// The error of `body`, code and delivery only.
func failed(_ body: () async throws -> some Any) async throws -> Failure? {
    do {
        _ = try await body()
        return nil
    } catch let TransportError.failed(code, delivery, _) {
        return Failure(code: code, delivery: delivery)
    }
}

extension ScriptedServer {
    /// `ws://127.0.0.1:port/chat`.
    var socketUrl: URL { url(scheme: "ws", host: "127.0.0.1").appendingPathComponent("chat") }
}
