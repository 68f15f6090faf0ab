import Foundation

/// The body of a streamed exchange, as its reader holds it: when it is released, the exchange ends.
final class ResponseReader: Sendable {
    private let chunks: ResponseChunks
    private let exchange: ClientExchange

    init(_ chunks: ResponseChunks, of exchange: ClientExchange) {
        self.chunks = chunks
        self.exchange = exchange
    }

    deinit {
        exchange.cancel()
    }

    func next() async throws -> Data? {
        try Task.checkCancellation()
        return try await withTaskCancellationHandler {
            try await chunks.next()
        } onCancel: {
            exchange.cancel()
        }
    }
}
