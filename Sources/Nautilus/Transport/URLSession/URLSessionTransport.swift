import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The default transport on Apple's platforms, built on `URLSession`. On Linux it is the default if libcurl cannot be
/// used directly (see ``PlatformTransport``), and can be named explicitly.
///
/// On neither platform does it follow redirects, answer authentication challenges, keep cookies, cache, retry or time
/// out. That is left to the call above it.
///
/// A caller should know:
/// - Header fields are sent in no particular order, and several values of one name as one line, since Foundation keeps
///   them in a dictionary.
/// - The `Content-Encoding`s gzip and deflate are asked for and decoded; the response's header keeps their names. The
///   body of an error that is not coded as its header says may be empty. A transfer coding besides `chunked` is an
///   error (RFC 9112 §6.1).
/// - The user and the password of a URL are not sent (RFC 9110 §4.2.4).
/// - A body stream that is neither bytes nor a file is kept in a temporary file until it is complete, and then sent
///   with its length: on Linux, any other way would hold up all of Foundation's sessions.
/// - The unread part of a streamed response beyond 256 KiB waits in a temporary file, and not in memory. The server is
///   not slowed down.
/// - Exchanges with a streamed body have connections of their own, as many per host as the others. On Linux, each
///   unfinished one, such as a stream of events, occupies a connection, and further streams to that host wait in line.
/// - On Linux, Foundation accepts no IPv6 literal as a host: `http://[::1]` fails as ``FailureKind/transport(_:)`` with
///   `badURL`, not sent. Use a name.
/// - On Linux, the body of a redirect whose `Location` is missing or not a URL is lost; its status and header are kept.
///   Of `Set-Cookie` lines that differ in the case of their name, only one is kept.
/// - On Linux, libcurl itself repeats a request, even a POST, if its kept connection turns out to be closed before any
///   byte of an answer came. The body is not sent again, so that such a POST runs into its timeout; a request without a
///   body may run twice, unless it carries an `Idempotency-Key`. Foundation does not tell of it, so the trace cannot.
/// - On Linux, up to Swift 6.3 at least, Foundation keeps a core busy while a request on a new connection waits for its
///   answer, since it keeps asking whether the socket can be written. Long polls are costly there.
/// - On Linux, up to Swift 6.3 at least, Foundation ends the process when a response breaks off within its header,
///   brings trailers, or has a `Content-Length` of 2⁶³ and above. If servers cannot be trusted that far, use a
///   transport that is built on another client.
///
/// Share an instance: each has its own connections, and closes them when it is released.
public final class URLSessionTransport: InterruptibleTransport {
    /// An instance to share, with the default ``Configuration``.
    public static let shared = URLSessionTransport()

    let configuration: Configuration
    private let plain: URLSessionOwner
    private let streamed = Locked<URLSessionOwner?>(nil)

    /// Creates a transport with connections of its own.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        self.plain = URLSessionOwner(configuration)
    }

    /// The transport itself, since it keeps connections.
    public var sharedObjects: [any AnyObject & Sendable] { [self] }

    /// Sends `request` once; see ``HttpTransport/send(_:context:)``.
    ///
    /// - Throws: ``TransportError``; ``InvalidRequest`` for a method or a header that cannot be sent; the error of a
    ///   body stream; `CancellationError`, at once when the task is cancelled.
    public func send(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<Data> {
        try checkPins()
        let body: Data?
        switch request.body {
        case .empty: body = nil
        case .data(let data): body = data
        case .stream:
            let response = try await stream(request, context: context)
            return try await response.collected(limit: configuration.responseLimit, context)
        }
        let outgoing = OutgoingRequest(request: try URLRequest(request, body: body), priority: request.priority)
        let exchange = URLSessionExchange(of: request, context: context, responseLimit: configuration.responseLimit)
        let end: @Sendable () -> Void = { [exchanges] in
            exchange.resolve(.failure(CancellationError())) {
                exchanges.queue.async { exchanges.abandon(exchange) }
            }
        }
        context.interruption?.onOccurrence(end)
        defer { context.interruption?.ignore() }
        return HttpResponse(try await answer(to: outgoing, exchange, in: plain, onCancel: end), to: request)
    }

    /// The session for exchanges with a streamed body, made for the first of them. With a session of their own, long
    /// exchanges such as events do not occupy the connections of others.
    var streamedSession: URLSessionOwner {
        streamed.withLock { session in
            if let session { return session }
            let made = URLSessionOwner(configuration)
            session = made
            return made
        }
    }

    /// - Throws: ``TransportError``, not sent, if keys are pinned on a platform that does not show certificates.
    func checkPins() throws(TransportError) {
        #if canImport(FoundationNetworking)
            guard !configuration.pinnedKeys.isEmpty else { return }
            let reason = "URLSessionTransport cannot pin keys on Linux; CurlTransport can."
            throw .failed(.serverCertificateUntrusted, delivery: .notSent, reason: reason)
        #endif
    }

    /// The table of exchanges under way, for the tests.
    var exchanges: URLSessionExchangeDelegate { plain.exchanges }

    /// Starts an exchange and waits for its answer.
    ///
    /// - Parameter end: Ends the exchange when the task is cancelled.
    func answer(
        to request: OutgoingRequest,
        _ exchange: URLSessionExchange,
        in session: URLSessionOwner,
        onCancel end: @Sendable () -> Void
    ) async throws -> URLSessionExchange.Answer {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard exchange.awaitAnswer(continuation) else { return }
                session.exchanges.accept(exchange, request, in: session.session)
            }
        } onCancel: {
            end()
        }
    }
}

extension HttpResponse<Data> {
    init(_ answer: URLSessionExchange.Answer, to request: HttpRequest) {
        self.init(answer.response, body: answer.body, to: request)
    }

    init(_ response: HTTPURLResponse, body: Data, to request: HttpRequest) {
        self.init(status: response.statusCode, header: HttpHeader(response), body: body, url: request.url)
    }
}

extension URLSessionTransport {
    /// Sends `request` once and returns its response as soon as the header has arrived; see
    /// ``HttpTransport/stream(_:context:)``.
    ///
    /// - Throws: The errors of ``send(_:context:)``.
    public func stream(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<HttpBodyStream> {
        try checkPins()
        // Checked before a one-shot stream is used up for a request that cannot be sent.
        try request.validateForSession()
        let body = try await OutgoingBody(request.body, spoolLimit: configuration.spoolLimit)
        let urlRequest = try URLRequest(request, body: body.data)
        let outgoing = OutgoingRequest(request: urlRequest, priority: request.priority, file: body.file)
        let download = DownloadPipe(spoolLimit: configuration.spoolLimit)
        let streams = ExchangeStreams(download: download, spool: body.spool, onSent: body.onSent)
        let exchange = URLSessionExchange(of: request, context: context, responseLimit: .max, streams: streams)
        let session = streamedSession
        let end: @Sendable () -> Void = { [exchanges = session.exchanges] in
            download.abandon()
            exchange.resolve(.failure(CancellationError())) {
                exchanges.queue.async { exchanges.abandon(exchange) }
            }
        }
        let answer = try await answer(to: outgoing, exchange, in: session, onCancel: end)
        let reader = StreamedBody(download, end: end)
        let length = answer.response.streamedLength(to: request.method.rawValue)
        return HttpResponse(answer, to: request).replacingBody(
            HttpBodyStream(length: length) { try await reader.next() }
        )
    }
}
