import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request under way, and the caller that waits for its answer.
///
/// The answer can come from two sides, the delegate's reports and a cancellation anywhere, and is given once.
final class URLSessionExchange: Sendable {
    /// The answer of a successful exchange.
    struct Answer: Sendable {
        let response: HTTPURLResponse
        let body: Data
    }

    typealias Continuation = CheckedContinuation<Answer, any Error>

    private enum Caller {
        case expected
        case waiting(Continuation)
        case answered
    }

    private struct State {
        var caller = Caller.expected
        var task: URLSessionDataTask?
        var response: HTTPURLResponse?
        var body = Data()
    }

    let request: HttpRequest
    /// The attempt's context, which knows how long the exchange may take.
    let context: AttemptContext
    /// The most bytes of a body that is not streamed.
    private let responseLimit: Int
    /// The parts that it needs to stream its bodies; nil when it does not.
    private let streams: ExchangeStreams?
    private let state = Locked(State())

    init(of request: HttpRequest, context: AttemptContext, responseLimit: Int, streams: ExchangeStreams? = nil) {
        self.request = request
        self.context = context
        self.responseLimit = responseLimit
        self.streams = streams
    }

    /// Where it goes; nil for a URL without a host, which needs no connection to fail.
    var origin: HttpOrigin? { request.origin }

    /// Lets the caller wait; false, with the caller resumed, when the exchange was cancelled before it began.
    func awaitAnswer(_ continuation: Continuation) -> Bool {
        let isCancelled = state.withLock { state in
            if case .answered = state.caller { return true }
            state.caller = .waiting(continuation)
            return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
        return !isCancelled
    }

    /// Gives the caller the answer; only the first one counts.
    ///
    /// - Parameter prepare: Steps to be under way before the caller goes on, since it may release the transport.
    func resolve(_ result: Result<Answer, any Error>, after prepare: () -> Void = {}) {
        let continuation: Continuation? = state.withLock { state in
            defer { state.caller = .answered }
            guard case .waiting(let continuation) = state.caller else { return nil }
            return continuation
        }
        prepare()
        continuation?.resume(with: result)
    }

    /// Whether the caller has gone, so that there is nothing left to do.
    var isAnswered: Bool {
        state.withLock { if case .answered = $0.caller { true } else { false } }
    }
}

/// The delegate's side.
extension URLSessionExchange {
    /// The task that carries it; nil before it has begun.
    var task: URLSessionDataTask? { state.withLock { $0.task } }

    /// Remembers the task that carries it.
    func begin(_ task: URLSessionDataTask) {
        state.withLock { $0.task = task }
    }

    /// Takes a response's header in; false when it announces more than the limit.
    ///
    /// - Parameter method: The method that it answers.
    func receive(_ response: HTTPURLResponse, to method: String?) -> Bool {
        if response.statusCode >= 200 { context.noteResponseHeader() }
        // An interim response (103, say) comes first and brings no body: the last one counts.
        state.withLock { state in
            state.response = response
            state.body.removeAll()
        }
        guard streams == nil else {
            if response.statusCode >= 200 { resolve(.success(Answer(response: response, body: Data()))) }
            return true
        }
        return response.expectedContentLength <= Int64(responseLimit) || !response.announcesBody(to: method)
    }

    /// Takes a part of the body in; false when it is more than the limit.
    func receive(_ data: Data) -> Bool {
        if let streams {
            streams.download.write(data)
            return true
        }
        return state.withLock { state in
            // Refused already, or its caller has gone: further bytes are not kept.
            if case .answered = state.caller { return true }
            guard state.body.count + data.count <= responseLimit else { return false }
            state.body.append(data)
            return true
        }
    }

    /// Takes note of how many bytes of the request's body have been sent.
    func sent(_ count: Int64) {
        streams?.onSent?(count)
    }

    /// Answers with the bytes that have come, or with `fallback` when the delegate was never told of a response.
    func complete(fallback: HTTPURLResponse? = nil) {
        let (response, body) = state.withLock { ($0.response, $0.body) }
        guard let response = response ?? fallback else {
            return fail(TransportError(.badServerResponse))
        }
        resolve(.success(Answer(response: response, body: body)))
        streams?.download.finish()
    }

    /// Answers that it has failed; when the answer has begun, its reader hears of it.
    func fail(_ error: any Error) {
        streams?.download.finish(.failure(error))
        resolve(.failure(error))
    }

    /// Answers that the body is too large, and lets go of it.
    func refuseBody() {
        state.withLock { $0.body.removeAll() }
        resolve(.failure(TransportError.responseTooLarge(limit: responseLimit)))
    }
}

/// The parts that an exchange needs to stream its bodies.
struct ExchangeStreams: Sendable {
    /// Where the response's body goes.
    let download: DownloadPipe
    /// The file that Foundation sends, where it is ours: it is kept as long as the exchange; nil when there is none.
    let spool: SpoolFile?
    /// Called with how many bytes Foundation has sent of a body that it sends by itself; nil when that is not observed.
    let onSent: (@Sendable (Int64) -> Void)?
}
