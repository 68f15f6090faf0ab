import Foundation
import NautilusHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The default transport on Apple's platforms, built on `URLSession`. On Linux it is the default if libcurl cannot be
/// used directly (see `HttpTransport/platform`), and can be named explicitly.
///
/// It follows no redirects, answers no authentication challenges, keeps no cookies, caches nothing, retries nothing,
/// and has no timeout. The user and the password of a URL are not sent (RFC 9110 §4.2.4).
///
/// A body stream that is neither bytes nor a file is first kept in a temporary file, and then sent with its length. The
/// unread part of a streamed response beyond 256 KiB also waits in a temporary file; the server is not slowed down.
///
/// On Linux, Foundation's networking has faults: it can send a request twice, and up to Swift 6.3 at least, a malformed
/// response can end the process. The guide `BodiesAndStreams` lists them, and how this transport differs from
/// `CurlTransport`. Share an instance: each has its own connections, and closes them when it is released.
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

    /// Sends `request` once; see `HttpTransport.send(_:context:)`.
    ///
    /// - Throws: `TransportError`; `HttpRequest.Invalid` for a method or a header that cannot be sent; the error of a
    ///   body stream; `CancellationError`, at once when the task is cancelled.
    public func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
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

    /// - Throws: `TransportError`, not sent, if keys are pinned on a platform that does not show certificates.
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
    /// `HttpTransport.stream(_:context:)`.
    ///
    /// - Throws: The errors of ``send(_:context:)``.
    public func stream(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<HttpBodyStream> {
        try checkPins()
        // Checked before a one-shot stream is used up for a request that cannot be sent.
        try request.validateForTransport()
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
