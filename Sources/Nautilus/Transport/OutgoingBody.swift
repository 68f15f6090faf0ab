import Foundation

/// A body on its way into a streamed exchange.
struct OutgoingBody {
    /// What is in memory; nil when nothing is.
    let data: Data?
    /// The file that Foundation sends; nil when it sends none.
    let file: URL?
    /// Where Foundation reads the chunks from; nil when there are none.
    let upload: UploadPipe?
    private let chunks: HttpBodyStream?

    /// - Throws: ``TransportError``, before anything is sent, for a one-shot stream that has been read.
    init(_ body: HttpBody.Payload) throws {
        switch body {
        case .empty: (data, file, upload, chunks) = (nil, nil, nil, nil)
        case .data(let bytes): (data, file, upload, chunks) = (bytes, nil, nil, nil)
        case .stream(let stream):
            if let url = stream.file {
                (data, file, upload, chunks) = (nil, url, nil, nil)
            } else {
                guard stream.isReplayable else { throw TransportError(.alreadyRead) }
                (data, file, upload, chunks) = (nil, nil, UploadPipe(), stream)
            }
        }
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
