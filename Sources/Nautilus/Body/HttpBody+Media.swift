import Foundation

extension HttpBody {
    /// A file, read from the disk while it is sent, never whole in memory; read again by each attempt.
    ///
    /// The platform's transport sends it with its `Content-Length`. A file that cannot be read fails the attempt as
    /// ``InvalidRequest/file(_:)``, before anything is sent.
    ///
    /// - Parameters:
    ///   - url: Where the file is.
    ///   - contentType: The media type. Default: nil, that of the name's extension, and `application/octet-stream`
    ///     where the extension is unknown.
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
