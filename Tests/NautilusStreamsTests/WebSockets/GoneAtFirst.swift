import Foundation

@testable import Nautilus
@testable import NautilusHTTP

/// Its first connection has broken off before anything was sent over it.
final class GoneAtFirst: WebSocketTransport, WebSocketConnection {
    private let next: any WebSocketTransport
    private let isFirst = Locked(true)

    init(next: any WebSocketTransport) {
        self.next = next
    }

    func open(_ request: HttpRequest, context: TransportContext) async throws -> WebSocketOpening {
        let isFirst = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
        }
        return isFirst ? .opened(self, header: [:]) : try await next.open(request, context: context)
    }

    func send(_ message: WebSocketMessage) async throws { throw Self.gone }
    func receive() async throws -> WebSocketMessage { throw Self.gone }
    func ping() async throws { throw Self.gone }
    func close(_ closure: WebSocketClosure) async {}

    private static let gone = TransportError(.networkConnectionLost, delivery: .notSent)
}
