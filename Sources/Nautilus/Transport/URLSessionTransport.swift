import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The transport of every service that names no other: one `URLSession`, used so that it behaves the same on Apple
/// platforms and on Linux.
///
/// What it does not do, on either: follow redirects, answer authentication challenges, keep cookies, cache, retry, time
/// out. The call above it does what of that is wanted.
///
/// What a caller should know:
/// - Header fields go out in no particular order, and several values of one name as one line: Foundation holds them
///   in a dictionary.
/// - `Content-Encoding` gzip and deflate are asked for and undone; the response's header keeps the names.
/// - The user and the password of a URL are not sent (RFC 9110 §4.2.4).
/// - A body stream is collected in memory before it is sent, up to ``Configuration/streamLimit``.
/// - On Linux, Foundation takes no IPv6 literal for a host: `http://[::1]` ends as ``FailureKind/transport(_:)`` with
///   `badURL`, not sent. Use a name.
/// - On Linux, the body of a redirect whose `Location` is missing or is no URL is lost; its status and header are not.
///   Of `Set-Cookie` lines that differ in the case of their name, only one comes through.
/// - On Linux, libcurl itself repeats a request, POST included, when its kept connection turns out to be closed before
///   any byte of an answer came. A body is not sent again, so that such a POST runs into its timeout; one without a
///   body may run twice, unless it carries an `Idempotency-Key`.
/// - On Linux, up to Swift 6.3 at least, Foundation keeps a core busy while a request on a new connection waits for its
///   answer: it goes on asking whether the socket can be written. Long polls are costly there.
/// - On Linux, up to Swift 6.3 at least, Foundation ends the process when a response breaks off within its header, brings
///   trailers, or has a `Content-Length` of 2⁶³ and above. Where servers cannot be trusted that far, use a transport
///   that is built on another client.
///
/// Share one: connections are kept per instance. An instance closes its connections when it is released.
public final class URLSessionTransport: InterruptibleTransport {
    /// The instance that services share unless they name a transport, with the default ``Configuration``.
    public static let shared = URLSessionTransport()

    private let configuration: Configuration
    let exchanges: ExchangeDelegate
    private let session: URLSession

    /// Creates a transport with connections of its own.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        self.exchanges = ExchangeDelegate(connectionsPerHost: configuration.connectionsPerHost)
        self.session = URLSession(
            configuration: configuration.sessionConfiguration(),
            delegate: exchanges,
            delegateQueue: exchanges.operations
        )
    }

    deinit {
        // A session holds its delegate and its connections until it is told that nothing follows. On the queue, since
        // an exchange that was cancelled may still be on its way there, and an invalidated session traps.
        exchanges.queue.async { [session] in session.finishTasksAndInvalidate() }
    }

    /// Sends `request` once; see ``HttpTransport/send(_:context:)``.
    ///
    /// - Throws: ``TransportError``; ``InvalidRequest`` for a method or a header that cannot be sent; the error of a body
    ///   stream; `CancellationError`, at once when the task is cancelled.
    public func send(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<Data> {
        let body = try await collect(request.body)
        let urlRequest = try URLRequest(request, body: body)
        let exchange = Exchange(to: request.origin, context: context, responseLimit: configuration.responseLimit)
        let end: @Sendable () -> Void = { [exchanges] in
            exchange.resolve(.failure(CancellationError())) {
                exchanges.queue.async { exchanges.abandon(exchange) }
            }
        }
        context.interruption?.onOccurrence(end)
        defer { context.interruption?.ignore() }
        let answer = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard exchange.awaitAnswer(continuation) else { return }
                exchanges.accept(exchange, urlRequest, priority: request.priority, in: session)
            }
        } onCancel: {
            end()
        }
        return HttpResponse(
            status: answer.response.statusCode,
            header: HttpHeader(answer.response),
            body: answer.body,
            url: request.url
        )
    }

    private func collect(_ body: HttpBody.Payload) async throws -> Data? {
        do {
            let data = try await body.collected(limit: configuration.streamLimit)
            // A cancelled stream ends early without an error, and half a body must not be sent.
            try Task.checkCancellation()
            return data
        } catch let error as HttpBodyStream.ReadError {
            throw TransportError(error)
        }
    }
}
