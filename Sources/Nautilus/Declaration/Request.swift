import Foundation

/// One endpoint of an API, declared as a value.
///
/// ```swift
/// struct GetNote {
///     let id: Int
/// }
/// extension GetNote: JsonRequest {
///     typealias Result = Note
///     var route: HttpRoute { ["notes", id] }
/// }
/// ```
/// Everything has a default but ``Result`` and, unless `Result` is `Void`, `Data` or `String`, `decode(_:)`; a
/// ``JsonRequest`` has that, too. Properties are read again for every attempt. Two things stay as the first attempt had
/// them: an `Idempotency-Key` with its body, since a server compares them, and a stream that can be read only once.
public protocol Request<Result>: Sendable {
    /// The result of a call.
    associatedtype Result: Sendable

    /// A base URL in place of the service's; nil, the default, for the service's own.
    ///
    /// The service's credentials do not go to another origin. When a redirect leads to one, only these fields go along, by
    /// their names: what is accepted, what the body is, `Range` and `If-Range`, `Last-Event-ID`, `Cache-Control`,
    /// `User-Agent` and the trace context; and with a method that changes something, its conditions (`If-Match` and the
    /// like) and its `Idempotency-Key`.
    var url: (any UrlConvertible)? { get }
    /// Whether a base URL without scheme means `https`; nil, the default, for the service's choice.
    var usesSecureProtocol: Bool? { get }
    /// The method. Default: GET.
    var method: HttpMethod { get }
    /// The path below the base URL. Default: none.
    var route: HttpRoute { get }
    /// The query. Default: none.
    var query: HttpQuery { get }
    /// Fields that win over the service's. Default: none.
    var header: HttpHeader { get }
    /// The body. Default: none. GET, HEAD and TRACE refuse one.
    var body: HttpBody { get }
    /// The encoder of a JSON body. Default: a new one of the service's ``HttpService/coders``, which sorts keys, so that a
    /// repeated body is identical.
    var encoder: JSONEncoder { get }
    /// Which status codes lead to `decode(_:)`. Default: 200…299. A listed 3xx is not followed.
    var acceptedStatusCodes: HttpStatusCodes { get }
    /// How urgent it is. Default: normal.
    var priority: RequestPriority { get }
    /// How long one exchange may take, from sending to the last byte, redirects included; nil for no limit.
    ///
    /// Waiting for a free connection does not count, nor does waiting for a credential; the ``deadline`` covers both. Of
    /// a body that goes out part by part, as a file, a stream and many bytes in memory do, it bounds the time for each
    /// part, and for the answer after the last: an upload may take as long as it goes on.
    ///
    /// Default: the service's, ``HttpService/timeout``.
    var timeout: Duration? { get }
    /// How long the whole call may take, counted from `schedule(with:)`: all attempts, delays and refreshes.
    ///
    /// A call that is made within another one, by its retrier, an interceptor or a hook, has no longer than is left to
    /// that one, whatever this says. A task that a call starts without waiting for it is not bound, and a refresh that
    /// calls share has a limit of its own, ``RefreshLimits/timeLimit``.
    ///
    /// Default: nil, no limit: the caller's cancellation is the usual one.
    var deadline: Duration? { get }

    /// Whether the body is read while it comes, by ``decode(_:)-(HttpResponse<HttpBodyStream>)``, and not when all of it
    /// has.
    ///
    /// The ``timeout`` then bounds the time until the header has come, and each wait for more of the body.
    ///
    /// Default: false; true where the result is an ``HttpBodyStream``.
    var streamsResponse: Bool { get }
    /// Whether its calls need no credential, and carry none though somebody is signed in: a sign-up, a price list. They are
    /// made as by ``HttpService/signedOut``, and what is cached of their answers is a guest's.
    ///
    /// Default: false.
    var isForGuests: Bool { get }
    /// Whether the request may be sent a second time while the first send is under way and slow, by a service that hedges.
    /// Counts only for requests that may be repeated at all; see ``HttpService/hedging``.
    ///
    /// Default: true. Say false where an answer is large or costly to make, or where a PUT that arrives late must not
    /// overwrite a later one: the send that has lost may still be carried out.
    var allowsHedging: Bool { get }
    /// Whether a redirect may have the body sent to another origin, as 307 and 308 do (RFC 9110 §15.4.8). A refused one
    /// fails with ``RedirectRefusal/bodyAcrossOrigins``. On the same origin the body always goes along.
    ///
    /// Default: true, as in all clients: the server has named the place over a connection that is trusted, many an upload is
    /// accepted in no other way, and credentials in the header stay behind. Say false where the body is itself a secret, a
    /// password or a token. An interceptor says it for all requests of a service, by ``HttpRequest/allowsBodyAcrossOrigins``.
    ///
    /// The requests of a refresh, and those by which a session begins, is renewed and revoked, follow no redirect to another
    /// origin with a body, whatever this says, nor one that turns them into a GET there.
    var allowsBodyAcrossOrigins: Bool { get }

    /// Makes the result from the response's body. Runs off the caller's actor.
    ///
    /// - Throws: Any error; the call fails with kind `decoding`, the error underneath.
    func decode(_ data: Data) throws -> Result
    /// Makes the result from the response, for one that depends on status or header. Runs off the caller's actor.
    ///
    /// Asked at the end of the exchange, before interceptors see the answer, so that a failure that you find in it is one to
    /// all of them; and once more when an interceptor has changed the answer, or has made one of its own. If a request
    /// was sent twice, each answer is decoded.
    ///
    /// Default: ``decode(_:)-(Data)`` of the body.
    ///
    /// - Throws: Any error; the call fails with kind `decoding`, the error underneath. An ``HttpError`` is the call's own:
    ///   ``HttpResponse/rejection(as:)`` makes one of a failure that a server has disguised as a success.
    func decode(_ response: HttpResponse<Data>) throws -> Result
    /// Makes the result while the response comes, where ``streamsResponse`` says so. Runs off the caller's actor.
    ///
    /// Default: reads the whole body, up to 64 MiB, as the platform's transport does, for
    /// ``decode(_:)-(HttpResponse<Data>)``.
    ///
    /// - Throws: The errors of the stream, each an ``HttpError`` that the retrier is asked about; with any other error
    ///   the call fails with kind `decoding`.
    func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> Result
}

extension Request {
    /// The service's own base URL.
    public var url: (any UrlConvertible)? { nil }
    /// The service's choice.
    public var usesSecureProtocol: Bool? { nil }
    /// GET.
    public var method: HttpMethod { .get }
    /// No path.
    public var route: HttpRoute { [] }
    /// No query.
    public var query: HttpQuery { [:] }
    /// No fields.
    public var header: HttpHeader { [:] }
    /// No body.
    public var body: HttpBody { .empty }
    /// A new encoder of the service's.
    public var encoder: JSONEncoder { JsonCoders.current.encoder() }
    /// 200…299.
    public var acceptedStatusCodes: HttpStatusCodes { .success }
    /// Normal.
    public var priority: RequestPriority { .normal }
    /// The service's.
    public var timeout: Duration? { .ofService }
    /// No limit.
    public var deadline: Duration? { nil }
    /// False.
    public var streamsResponse: Bool { false }
    /// False.
    public var isForGuests: Bool { false }
    /// True.
    public var allowsHedging: Bool { true }
    /// True.
    public var allowsBodyAcrossOrigins: Bool { true }

    /// Decodes the body, with any status and header.
    public func decode(_ response: HttpResponse<Data>) throws -> Result { try decode(response.body) }

    /// Reads the whole body, and decodes that.
    public func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> Result {
        try decode(response.replacingBody(try await response.wholeBody()))
    }
}

extension Request where Result == HttpBodyStream {
    /// True: the result is the body as it comes.
    public var streamsResponse: Bool { true }

    /// The body as a stream of one chunk.
    public func decode(_ data: Data) throws -> HttpBodyStream { HttpBodyStream(data) }

    /// The body as it comes.
    public func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> HttpBodyStream { response.body }
}

extension Request where Result == Void {
    /// Ignores the body.
    public func decode(_ data: Data) throws {}
}

extension Request where Result == Data {
    /// The body as it came.
    public func decode(_ data: Data) throws -> Data { data }
}

extension Request where Result == String {
    /// The body as UTF-8 text.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for bytes that are not UTF-8; the call fails with kind `decoding`.
    public func decode(_ data: Data) throws -> String { try data.utf8Text() }
}

extension Data {
    func utf8Text() throws -> String {
        guard let text = String(bytes: self, encoding: .utf8) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "The body is not UTF-8 text."))
        }
        return text
    }
}

extension HttpResponse<HttpBodyStream> {
    /// The whole body, up to 64 MiB, as much as a transport takes of one that is not streamed.
    func wholeBody() async throws -> Data { try await body.collected(limit: 67_108_864) }
}

/// A request that is made from another one, which somebody has declared.
package protocol RequestOfAnother {
    /// The request that it was made from: a ``Request``, or a ``StreamRequest``.
    var declared: Any { get }
}

extension Duration {
    /// The timeout of a request that declares none: that of its service, ``HttpService/timeout``. Used as a time by itself, it
    /// is 60 s.
    ///
    /// It is told from a declared minute by a fraction that no clock measures.
    public static let ofService = Duration(secondsComponent: 60, attosecondsComponent: 1)
}

/// A request whose result is JSON, and so is its body if it has one.
public protocol JsonRequest: Request where Result: Decodable {
    /// Whether `snake_case` on the wire is `camelCase` in Swift, both ways. Default: false, names as the service's
    /// ``HttpService/coders`` have them.
    ///
    /// As Foundation's strategies do it: `userID` goes out as `user_id` and would come back as `userId`, so write that.
    var usesSnakeCase: Bool { get }
    /// The decoder of the result. Default: a new one of the service's ``HttpService/coders`` that follows
    /// ``usesSnakeCase``.
    var decoder: JSONDecoder { get }
}

extension JsonRequest {
    /// The service's choice.
    public var usesSnakeCase: Bool { false }

    /// A new decoder of the service's that follows ``usesSnakeCase``.
    public var decoder: JSONDecoder {
        let decoder = JsonCoders.current.decoder()
        if usesSnakeCase { decoder.keyDecodingStrategy = .convertFromSnakeCase }
        return decoder
    }

    /// A new encoder of the service's that follows ``usesSnakeCase``.
    public var encoder: JSONEncoder {
        let encoder = JsonCoders.current.encoder()
        if usesSnakeCase { encoder.keyEncodingStrategy = .convertToSnakeCase }
        return encoder
    }

    /// Decodes the body as JSON.
    ///
    /// - Throws: The decoder's error; the call fails with kind `decoding`.
    public func decode(_ data: Data) throws -> Result {
        try decoder.decode(Result.self, from: data)
    }
}

extension JsonRequest where Result == String {
    /// A JSON string, not the raw text.
    ///
    /// - Throws: The decoder's error; the call fails with kind `decoding`.
    public func decode(_ data: Data) throws -> String {
        try decoder.decode(String.self, from: data)
    }
}

extension JsonRequest where Result == Data {
    /// A JSON string of Base64, not the raw bytes.
    ///
    /// - Throws: The decoder's error; the call fails with kind `decoding`.
    public func decode(_ data: Data) throws -> Data {
        try decoder.decode(Data.self, from: data)
    }
}
