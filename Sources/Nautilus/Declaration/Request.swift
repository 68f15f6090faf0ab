import Foundation

/// One endpoint of an API, declared as a value.
/// ```swift
/// struct GetNote { let id: Int }
/// extension GetNote: JsonRequest {
///     typealias Result = Note
///     var route: HttpRoute { ["notes", id] }
/// }
/// ```
/// Everything has a default except ``Result``, ``route`` and `decode(_:)`. A ``JsonRequest`` has a default for
/// `decode(_:)`, too, as has a `Result` of `Void`, `Data` or `String`. Properties are read again for every attempt,
/// with two exceptions: an `Idempotency-Key` stays with its body, since servers compare the two, and a stream that can
/// be read only once stays as the first attempt had it.
public protocol Request<Result>: Sendable {
    /// The result of a call.
    associatedtype Result: Sendable

    /// A base URL in place of the service's; nil, the default, for the service's own.
    ///
    /// The service's credentials are not sent to another origin. When a redirect leads to another origin, only these
    /// fields go along, selected by name: those that say what is accepted and what the body is, `Range` and `If-Range`,
    /// `Last-Event-ID`, `Cache-Control`, `User-Agent` and the trace context; and, for a method that changes something,
    /// its conditions (`If-Match` and the like) and its `Idempotency-Key`.
    var url: (any UrlConvertible)? { get }
    /// Whether a base URL without scheme means `https`; nil, the default, for the service's choice.
    var usesSecureProtocol: Bool? { get }
    /// The method. Default: GET.
    var method: HttpMethod { get }
    /// The path below the base URL; `[]` if the base URL is the resource. It has no default, since a request with a
    /// misspelled one would ask for something else.
    var route: HttpRoute { get }
    /// The query. Default: none.
    var query: HttpQuery { get }
    /// Header fields, which override the service's. Default: none.
    var header: HttpHeader { get }
    /// The body. Default: none. GET, HEAD and TRACE refuse one.
    var body: HttpBody { get }
    /// The encoder of a JSON body. Default: a new encoder from the service's ``HttpService/coders``; it sorts keys, so
    /// that a repeated body is identical.
    var encoder: JSONEncoder { get }
    /// Which status codes lead to `decode(_:)`. Default: 200…299. A listed 3xx is not followed.
    var acceptedStatusCodes: HttpStatusCodes { get }
    /// How urgent the request is. Default: normal.
    var priority: HttpRequest.Priority { get }
    /// How long one exchange may take, from sending to the last byte, redirects included; nil for no limit.
    ///
    /// Waiting for a free connection or for a credential does not count; the ``deadline`` covers both. For a body that
    /// is sent part by part (a file, a stream, many bytes in memory), the timeout applies to each part, and to the
    /// answer after the last one: an upload may take any time as long as it makes progress.
    ///
    /// Default: the service's, ``HttpService/timeout``.
    var timeout: Duration? { get }
    /// How long the whole call may take, counted from `schedule(with:)`: all attempts, delays and refreshes.
    ///
    /// A call made within another call, by its retrier, an interceptor or a hook, never gets more time than the outer
    /// call has left. A task that a call starts without waiting for it is not bound by this, and a refresh that calls
    /// share has a limit of its own, ``RefreshLimits/timeLimit``.
    ///
    /// Default: the service's, ``HttpService/deadline``, unless the response's body is read as it arrives; nil for no
    /// limit.
    var deadline: Duration? { get }

    /// Whether the body is read as it arrives, by ``decode(_:)-(HttpResponse<HttpBodyStream>)``, rather than once all
    /// of it has arrived.
    ///
    /// The ``timeout`` then applies to the time until the header has arrived, and to each wait for more of the body.
    ///
    /// Default: false; true where the result is an ``HttpBodyStream``.
    var streamsResponse: Bool { get }
    /// Whether the request's calls are anonymous: they need no credential, and carry none even if somebody is signed
    /// in, such as for a sign-up or a price list. They are made as if through ``HttpService/anonymous``, and caches
    /// keep their answers separate from those to users.
    ///
    /// Default: false.
    var isAnonymous: Bool { get }
    /// Whether the request may be sent a second time while the first one is slow, if the service hedges. Matters only
    /// for requests that may be repeated at all; see `Hedging`.
    ///
    /// Default: true. Return false where an answer is large or costly to make, or where a PUT that arrives late must
    /// not overwrite a later one: the server may still carry out the send that lost.
    var allowsHedging: Bool { get }
    /// Whether a redirect may have the body sent to another origin, as 307 and 308 do (RFC 9110 §15.4.8). If not, the
    /// call fails with ``FailureKind/RedirectRefusal/bodyAcrossOrigins``. Within the same origin the body always goes
    /// along.
    ///
    /// Default: true, as in all clients: a trusted server has named the new place, many uploads work only this way, and
    /// credentials in the header stay behind. Return false where the body is itself a secret, such as a password or a
    /// token. To forbid it for all requests of a service, set ``HttpRequest/allowsBodyAcrossOrigins`` to false in an
    /// interceptor.
    ///
    /// Requests that begin, refresh or revoke a session with a credential in their body or header follow no redirect to
    /// another origin, whatever this property says.
    var allowsBodyAcrossOrigins: Bool { get }

    /// The status that counts for an answer, if the server reports it in another way, such as a failure in the body of
    /// a 200. It acts in every respect like a server's: a 401 refreshes the credential, a 503 is retried.
    /// ```swift
    /// func status(of response: HttpResponse<Data>) -> AnswerStatus {
    ///     let failure = try? JSONDecoder().decode(Failure.self, from: response.body)
    ///     guard let failure else { return AnswerStatus(response.status) }
    ///     return AnswerStatus(failure.status, retryAfter: failure.seconds.map { .seconds($0) })
    /// }
    /// ```
    /// Called for each answer as soon as it has arrived, before interceptors and retriers see it, and again for an
    /// answer that this call shares with another. If the body is read as it arrives, it is empty here. Default: the
    /// answer's own.
    func status(of response: HttpResponse<Data>) -> AnswerStatus
    /// Makes the result from the response's body. Runs off the caller's actor.
    ///
    /// - Throws: Any error; the call fails with kind `decoding`, the error underneath.
    func decode(_ data: Data) throws -> Result
    /// Makes the result from the whole response, where it depends on the status or header. Runs off the caller's actor.
    ///
    /// Called for the answer that the interceptors have returned. For a failure that the server has disguised as a
    /// success, declare ``status(of:)``, so that interceptors see it, too.
    ///
    /// Default: ``decode(_:)-(Data)`` of the body.
    ///
    /// - Throws: Any error; the call fails with kind `decoding`, the error underneath. An ``HttpError`` is passed on
    ///   unchanged.
    func decode(_ response: HttpResponse<Data>) throws -> Result
    /// Makes the result while the response arrives, if ``streamsResponse`` is true. Runs off the caller's actor.
    ///
    /// Default: reads the whole body, up to 64 MiB like the platform's transport, and passes it to
    /// ``decode(_:)-(HttpResponse<Data>)``.
    ///
    /// - Throws: The stream's errors, each an ``HttpError`` that the retrier is asked about; any other error makes the
    ///   call fail with kind `decoding`.
    func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> Result
}

extension Request {
    /// The service's own base URL.
    public var url: (any UrlConvertible)? { nil }
    /// The service's choice.
    public var usesSecureProtocol: Bool? { nil }
    /// GET.
    public var method: HttpMethod { .get }
    /// No query.
    public var query: HttpQuery { [:] }
    /// No fields.
    public var header: HttpHeader { [:] }
    /// No body.
    public var body: HttpBody { .empty }
    /// A new encoder from the service's coders.
    public var encoder: JSONEncoder { JsonCoders.current.encoder() }
    /// 200…299.
    public var acceptedStatusCodes: HttpStatusCodes { .success }
    /// The answer's own.
    public func status(of response: HttpResponse<Data>) -> AnswerStatus { AnswerStatus(response.status) }
    /// Normal.
    public var priority: HttpRequest.Priority { .normal }
    /// The service's.
    public var timeout: Duration? { .ofService }
    /// The service's; no limit if the response is streamed.
    public var deadline: Duration? { .ofService }
    /// False.
    public var streamsResponse: Bool { false }
    /// False.
    public var isAnonymous: Bool { false }
    /// True.
    public var allowsHedging: Bool { true }
    /// True.
    public var allowsBodyAcrossOrigins: Bool { true }

    /// Decodes the body, whatever the status and header, except that text is decoded by its charset.
    public func decode(_ response: HttpResponse<Data>) throws -> Result {
        guard Result.self == String.self else { return try decode(response.body) }
        return try JsonCoders.reading(response.header.textCharset) { try decode(response.body) }
    }

    /// Reads the whole body, and decodes it.
    public func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> Result {
        try decode(response.replacingBody(try await response.wholeBody()))
    }
}

extension Request where Result == HttpBodyStream {
    /// True: the result is the body as it arrives.
    public var streamsResponse: Bool { true }

    /// The body as a stream of one chunk.
    public func decode(_ data: Data) throws -> HttpBodyStream { HttpBodyStream(data) }

    /// The body as it arrives.
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
    /// The body as text, as ``HttpResponse/text()`` reads it.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for bytes that are no text in their charset,
    ///   ``HttpBodyStream/UnknownCharset``; the call fails with kind `decoding`.
    public func decode(_ data: Data) throws -> String { try data.text(in: JsonCoders.current.charset) }
}

extension HttpResponse<HttpBodyStream> {
    /// The whole body, up to the limit that transports have for a body that is not streamed.
    func wholeBody() async throws -> Data { try await body.collected(limit: HttpBodyStream.wholeBodyLimit) }
}

/// A request that the framework makes from a declared one.
package protocol RequestOfAnother {
    /// The declared request that this one was made from: a ``Request`` or the request of a web socket.
    var declared: Any { get }
}

extension RequestOfAnother {
    /// The declared request that was not made from another one.
    package var innermost: Any { (declared as? any RequestOfAnother)?.innermost ?? declared }
}

extension Duration {
    /// The timeout or deadline of a request that declares none, standing for the service's ``HttpService/timeout`` or
    /// ``HttpService/deadline``. As a plain duration, it is 60 s.
    ///
    /// It is one attosecond more than 60 s, too little for any clock to measure, so that it differs from a declared
    /// minute.
    public static let ofService = Duration(secondsComponent: 60, attosecondsComponent: 1)
}

/// A request with a JSON result, and with a JSON body if it has one.
///
/// If ``Request/Result`` is an optional, `Note?`, it is nil for an empty body, for 204 and for 205, as for JSON's null.
public protocol JsonRequest: Request where Result: Decodable {
    /// Whether `snake_case` on the wire is `camelCase` in Swift, both ways. Default: false, which leaves names to the
    /// service's ``HttpService/coders``.
    ///
    /// Foundation's strategies do the conversion. They turn `userID` into `user_id`, but `user_id` into `userId`: so
    /// name the property `userId`.
    var usesSnakeCase: Bool { get }
    /// The decoder of the result. Default: a new decoder from the service's ``HttpService/coders`` that follows
    /// ``usesSnakeCase``.
    var decoder: JSONDecoder { get }
}

extension JsonRequest {
    /// The service's choice.
    public var usesSnakeCase: Bool { false }

    /// A new decoder from the service's coders that follows ``usesSnakeCase``.
    public var decoder: JSONDecoder {
        let decoder = JsonCoders.current.decoder()
        if usesSnakeCase { decoder.keyDecodingStrategy = .convertFromSnakeCase }
        return decoder
    }

    /// A new encoder from the service's coders that follows ``usesSnakeCase``.
    public var encoder: JSONEncoder {
        let encoder = JsonCoders.current.encoder()
        if usesSnakeCase { encoder.keyEncodingStrategy = .convertToSnakeCase }
        return encoder
    }

    /// Decodes the body as JSON; nil for an empty one if the result is optional.
    ///
    /// - Throws: The decoder's error; the call fails with kind `decoding`.
    public func decode(_ data: Data) throws -> Result {
        if data.isEmpty, let nothing = OptionalResult<Result>.nothing { return nothing }
        return try decoder.decode(Result.self, from: data)
    }

    /// Decodes the body as JSON; nil for 204 and 205 if the result is optional.
    ///
    /// - Throws: The decoder's error; the call fails with kind `decoding`.
    public func decode(_ response: HttpResponse<Data>) throws -> Result {
        if response.hasNoContent, let nothing = OptionalResult<Result>.nothing { return nothing }
        return try decode(response.body)
    }
}

/// The result of a call that brings nothing.
enum OptionalResult<Result> {
    /// Nil, if the result's type is an optional; nil, in place of a result, if it is not.
    ///
    /// Looked for when the code runs: a request with a type parameter for its result is compiled once for all types.
    static var nothing: Result? {
        guard let optional = Result.self as? any NilOfItself.Type else { return nil }
        return optional.nothing as? Result
    }
}

/// An optional, of any type.
private protocol NilOfItself {
    static var nothing: Self { get }
}

extension Optional: NilOfItself {
    fileprivate static var nothing: Wrapped? { .none }
}

extension HttpResponse {
    /// Whether the status says that there is no content (RFC 9110 §15.3.5, §15.3.6), whatever came.
    var hasNoContent: Bool { status == 204 || status == 205 }
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
