import Foundation

/// A body on its way into a streamed exchange.
struct OutgoingBody {
    /// What is in memory; nil when nothing is.
    let data: Data?
    /// The file that Foundation sends; nil when it sends none.
    let file: URL?
    /// Where Foundation reads the chunks from; nil when there are none.
    let upload: UploadPipe?
    /// What is told how many bytes of the first two have been sent; nil when nobody asks.
    let onSent: (@Sendable (Int64) -> Void)?
    private let chunks: HttpBodyStream?

    /// - Throws: ``TransportError``, before anything is sent, for a one-shot stream that has been read.
    init(_ body: HttpBody.Payload) throws {
        var (data, file, upload): (Data?, URL?, UploadPipe?)
        var chunks: HttpBodyStream?
        switch body {
        case .empty: break
        case .data(let bytes): data = bytes
        case .stream(let stream):
            chunks = stream
            switch stream.whole {
            case .bytes(let bytes)?: data = bytes
            case .file(let url)?: file = url
            case nil:
                guard stream.isReplayable else { throw TransportError(.alreadyRead) }
                upload = UploadPipe()
            }
        }
        (self.data, self.file, self.upload, self.chunks) = (data, file, upload, chunks)
        onSent = upload == nil ? chunks?.onSent : nil
    }

    /// Lets the chunks flow, in a task that ends with the exchange.
    ///
    /// - Parameter fail: Told of the error that the chunks end with.
    func feed(onFailure fail: @escaping @Sendable (any Error) -> Void) {
        guard let upload, let chunks else { return }
        Task {
            do {
                for try await chunk in chunks {
                    guard await upload.write(chunk) else { return }
                }
                upload.finish(.end)
            } catch let error as HttpBodyStream.ReadError {
                // Somebody else has read it meanwhile.
                fail(TransportError(error))
            } catch {
                fail(error)
            }
        }
    }
}
