import Foundation

/// The body of a streamed exchange, as its reader holds it: when it is released, the exchange ends.
final class StreamedBody: Sendable {
    private let pipe: DownloadPipe
    private let end: @Sendable () -> Void

    init(_ pipe: DownloadPipe, end: @escaping @Sendable () -> Void) {
        self.pipe = pipe
        self.end = end
    }

    deinit {
        end()
    }

    func next() async throws -> Data? {
        try Task.checkCancellation()
        return try await withTaskCancellationHandler {
            try await pipe.next()
        } onCancel: {
            end()
        }
    }
}
