import Foundation

/// A body on its way into a streamed exchange.
struct OutgoingBody {
    /// The bytes in memory; nil when there are none.
    private(set) var data: Data?
    /// The file that Foundation sends; nil when it sends none.
    private(set) var file: URL?
    /// The file, where it is made for this exchange; nil when there is none, or it is the caller's.
    private(set) var spool: SpoolFile?
    /// Called with how many bytes have been sent; nil when that is not observed, or was told while the chunks were
    /// made.
    private(set) var onSent: (@Sendable (Int64) -> Void)?

    /// - Parameter spoolLimit: The most bytes of chunks that are kept until they are sent.
    /// - Throws: ``TransportError``, before anything is sent, for a one-shot stream that has been read, and when the chunks
    ///   cannot be kept until they are sent; the error that the chunks end with.
    init(_ body: HttpBody.Payload, spoolLimit: Int) async throws {
        switch body {
        case .empty: break
        case .data(let bytes): data = bytes
        case .stream(let stream):
            switch stream.whole {
            case .bytes(let bytes)?: (data, onSent) = (bytes, stream.onSent)
            case .file(let url)?: (file, onSent) = (url, stream.onSent)
            case nil:
                guard stream.isReplayable else { throw TransportError(.alreadyRead) }
                let spool = try await SpoolFile(stream, limit: spoolLimit)
                (self.spool, file) = (spool, spool.url)
            }
        }
    }
}
