import Foundation

extension HttpBody {
    /// A form with files in it, as `multipart/form-data`.
    ///
    /// A form whose parts are all in memory, and 8 MiB at most, is sent as one piece; any other is a stream of chunks.
    /// ``URLSessionTransport`` puts such a form together in a temporary file before it sends it. A part's header that must
    /// not go on the wire fails the attempt as ``InvalidRequest``, unsent.
    ///
    /// - Parameters:
    ///   - form: The parts.
    ///   - random: The source of the boundary. Default: the system's generator, since a boundary that can be foreseen
    ///     could end a part from within.
    public static func multipart(
        _ form: MultipartForm,
        random: any RandomSource = SystemRandomSource()
    ) -> HttpBody {
        guard let boundary = MultipartBoundary(for: form, from: random) else {
            return HttpBody(contentType: nil) { _ in throw InvalidRequest.multipartBoundary }
        }
        let type = HttpMimeType("multipart", "form-data").with("boundary", boundary.text)
        return HttpBody(contentType: type.description) { _ in
            try MultipartEncoder(form: form, boundary: boundary).payload()
        }
    }
}
