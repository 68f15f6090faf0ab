import Foundation

/// The body of a request.
///
/// The body is only declared; it is encoded when the request is built, never on the caller's actor.
public struct HttpBody: Sendable {
    /// A body ready for the wire.
    public enum Payload: Sendable {
        /// No body at all.
        case empty
        /// Bytes in memory, which can be sent as often as needed.
        case data(Data)
        /// Chunks, sent as they are made.
        case stream(HttpBodyStream)
    }

    /// The media type that goes into `Content-Type` unless the request's header has one; nil for none.
    public let contentType: String?
    /// The coding that goes into `Content-Encoding` unless the request's header has one; nil for none.
    package var contentEncoding: String?
    package let payload: @Sendable (_ encoder: () -> JSONEncoder) throws -> Payload

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

    /// Bytes, sent as they are.
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
        HttpBody(contentType: "application/x-www-form-urlencoded") { encoder in
            .data(Data(try fields.checked(encoder).utf8))
        }
    }

    /// Names and values of a dictionary as `application/x-www-form-urlencoded`, sorted by name.
    ///
    /// A literal is an ``HttpQuery``, which keeps its order and repeated names.
    @_disfavoredOverload
    public static func form<Value: QueryConvertible>(_ fields: [String: Value]) -> HttpBody { .form(HttpQuery(fields)) }

    /// The properties of a value as `application/x-www-form-urlencoded`, by the request's ``Request/encoder``; see
    /// ``HttpQuery/init(encoding:)``.
    public static func form(encoding value: some Encodable & Sendable) -> HttpBody {
        .form(HttpQuery(encoding: value))
    }

    /// Chunks that can be read only once: an attempt that has begun to read them is not repeated, and its error is the
    /// call's.
    ///
    /// The chunks belong to one call; a second call with the same chunks finds none left.
    ///
    /// - Parameters:
    ///   - chunks: The chunks. If they end with an error, the attempt fails with it.
    ///   - length: The total number of bytes. Default: nil, unknown.
    ///   - contentType: The media type. Default: `application/octet-stream`, bytes of any kind (RFC 2046 §4.5.1).
    public static func stream<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        length: Int64? = nil,
        contentType: String = "application/octet-stream"
    ) -> HttpBody where Chunks.Element == Data {
        let stream = HttpBodyStream(once: chunks, length: length)
        return HttpBody(contentType: contentType) { _ in .stream(stream) }
    }

    /// Chunks that are made anew for every attempt.
    ///
    /// - Parameters:
    ///   - length: The total number of bytes. Default: nil, unknown.
    ///   - contentType: The media type. Default: `application/octet-stream`, bytes of any kind (RFC 2046 §4.5.1).
    ///   - make: Makes the chunks anew, from the beginning. If it throws, the attempt fails with the error.
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
    /// Whether the body can still be sent: false only for a one-shot stream that has been read.
    public var isReplayable: Bool {
        guard case .stream(let stream) = self else { return true }
        return stream.isReplayable
    }

    /// Whether the body comes in chunks, which may have to be waited for.
    package var isStream: Bool {
        if case .stream = self { true } else { false }
    }

    /// Whether there is no body at all; a body of zero bytes counts as a body.
    public var isEmpty: Bool {
        if case .empty = self { true } else { false }
    }

    /// Reads the whole body into memory, for a transport that does not stream.
    ///
    /// - Parameter limit: The most bytes to take from a stream; bytes already in memory are not limited.
    /// - Returns: Nil for an empty body.
    /// - Throws: ``HttpBodyStream/ReadError`` if a one-shot stream has been read before or a stream is larger than
    ///   `limit`; otherwise the error that the stream ends with.
    public func collected(limit: Int) async throws -> Data? {
        switch self {
        case .empty: nil
        case .data(let data): data
        case .stream(let stream): try await stream.collected(limit: limit)
        }
    }
}
