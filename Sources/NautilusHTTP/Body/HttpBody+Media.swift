import Foundation

extension HttpBody {
    /// A file, read from the disk while it is sent, and never held in memory as a whole. Each attempt reads it again.
    ///
    /// The platform's transport sends it with its `Content-Length`. If the file cannot be read, the attempt fails with
    /// ``HttpRequest/Invalid/file(_:)`` before anything is sent.
    ///
    /// - Parameters:
    ///   - url: Where the file is.
    ///   - contentType: The media type. Default: nil, the type for the name's extension, or `application/octet-stream`
    ///     if the extension is unknown.
    public static func file(_ url: URL, contentType: HttpMimeType? = nil) -> HttpBody {
        let type = contentType ?? HttpMimeType(fileExtension: url.pathExtension) ?? .octetStream
        return HttpBody(contentType: type.description) { _ in .stream(try HttpBodyStream(file: url)) }
    }

    /// Bytes of a media type: an image, a film, a document.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - type: Their media type.
    public static func media(_ data: Data, _ type: HttpMimeType) -> HttpBody {
        .data(data, contentType: type.description)
    }
}
