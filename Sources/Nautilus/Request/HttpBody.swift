import Foundation

/// The body of a request.
///
/// It is declared, not encoded: encoding happens while the request is built, never on the caller's actor.
public struct HttpBody: Sendable {
    /// A body ready for the wire.
    public enum Payload: Sendable {
        /// No body at all.
        case empty
        /// Bytes in memory; sent again as often as needed.
        case data(Data)
        /// Chunks as they come.
        case stream(HttpBodyStream)
    }

    /// The media type that goes into `Content-Type` unless the request's header has one; nil for none.
    public let contentType: String?
    /// The coding that goes into `Content-Encoding` unless the request's header has one; nil for none.
    var contentEncoding: String?
    let payload: @Sendable (_ encoder: () -> JSONEncoder) throws -> Payload

    init(
        contentType: String?,
        contentEncoding: String? = nil,
        payload: @escaping @Sendable (_ encoder: () -> JSONEncoder) throws -> Payload
    ) {
        self.contentType = contentType
        self.contentEncoding = contentEncoding
        self.payload = payload
    }

    /// No body.
    public static let empty = HttpBody(contentType: nil) { _ in .empty }

    /// Bytes, as they are.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - contentType: The media type. Default: `application/octet-stream`, bytes of any kind (RFC 2046 §4.5.1).
    public static func data(_ data: Data, contentType: String = "application/octet-stream") -> HttpBody {
        HttpBody(contentType: contentType) { _ in .data(data) }
    }

    /// A value as JSON, encoded by the request's ``Request/encoder``.
    public static func json(_ value: some Encodable & Sendable) -> HttpBody {
        HttpBody(contentType: "application/json") { encoder in try .data(encoder().encode(value)) }
    }

    /// Names and values as `application/x-www-form-urlencoded`.
    public static func form(_ fields: HttpQuery) -> HttpBody {
        HttpBody(contentType: "application/x-www-form-urlencoded") { _ in .data(Data(fields.encoded.utf8)) }
    }

    /// Chunks that come once: an attempt that has begun to read them cannot be repeated, and its error surfaces.
    ///
    /// They belong to one call: a second call with the same chunks finds nothing left of them.
    ///
    /// - Parameters:
    ///   - chunks: The chunks. An error that they end with fails the attempt.
    ///   - length: How many bytes they are together. Default: nil, unknown.
    ///   - contentType: The media type. Default: `application/octet-stream`, bytes of any kind (RFC 2046 §4.5.1).
    public static func stream<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        length: Int64? = nil,
        contentType: String = "application/octet-stream"
    ) -> HttpBody where Chunks.Element == Data {
        let stream = HttpBodyStream(once: chunks, length: length)
        return HttpBody(contentType: contentType) { _ in .stream(stream) }
    }

    /// Chunks that can be made again for every attempt.
    ///
    /// - Parameters:
    ///   - length: How many bytes they are together. Default: nil, unknown.
    ///   - contentType: The media type. Default: `application/octet-stream`, bytes of any kind (RFC 2046 §4.5.1).
    ///   - make: Makes the chunks anew, from the beginning. An error that it throws fails the attempt.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        length: Int64? = nil,
        contentType: String = "application/octet-stream",
        from make: @escaping @Sendable () throws -> Chunks
    ) -> HttpBody where Chunks.Element == Data {
        HttpBody(contentType: contentType) { _ in .stream(HttpBodyStream(length: length, from: make)) }
    }
}

extension HttpBody.Payload: Redacted {
    /// The kind and the size in bytes, never the bytes.
    public var description: String {
        switch self {
        case .empty: "no body"
        case .data(let data): "\(data.count) bytes"
        case .stream(let stream): stream.isOneShot ? "a one-shot stream" : "a replayable stream"
        }
    }
}

extension HttpBody.Payload {
    /// Whether it can be sent once more: false only for a one-shot stream that has been read.
    public var isReplayable: Bool {
        guard case .stream(let stream) = self else { return true }
        return stream.isReplayable
    }

    /// Whether it comes in chunks, which may be waited for.
    var isStream: Bool {
        if case .stream = self { true } else { false }
    }

    /// Whether there is no body at all; a body of zero bytes is one.
    public var isEmpty: Bool {
        if case .empty = self { true } else { false }
    }

    /// The whole body in memory, for a transport that does not stream.
    ///
    /// - Parameter limit: The most bytes to take from a stream; bytes that are in memory already are not measured.
    /// - Returns: Nil for an empty body.
    /// - Throws: ``HttpBodyStream/ReadError``: a one-shot stream has been read, or is larger than `limit`; or the error
    ///   that the stream ends with.
    public func collected(limit: Int) async throws -> Data? {
        switch self {
        case .empty: nil
        case .data(let data): data
        case .stream(let stream): try await stream.collected(limit: limit)
        }
    }
}
