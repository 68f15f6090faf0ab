import Foundation
import NautilusHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request under way, and the caller that waits for its answer.
///
/// The answer can come from two sides, from the delegate's reports or from a cancellation on any thread, and is given
/// only once.
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
    let context: TransportContext
    /// The most bytes of a body that is not streamed.
    private let responseLimit: Int
    /// The parts that the exchange needs to stream its bodies; nil if it does not stream.
    private let streams: ExchangeStreams?
    private let state = Locked(State())

    init(of request: HttpRequest, context: TransportContext, responseLimit: Int, streams: ExchangeStreams? = nil) {
        self.request = request
        self.context = context
        self.responseLimit = responseLimit
        self.streams = streams
    }

    /// The origin that the request goes to; nil for a URL without a host, which needs no connection to fail.
    var origin: HttpOrigin? { request.origin }

    /// Lets the caller wait. If the exchange was cancelled before it began, resumes the caller and returns false.
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
    /// - Parameter prepare: Steps to start before the caller continues, since it may release the transport.
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
    /// The task that carries the exchange; nil before it has begun.
    var task: URLSessionDataTask? { state.withLock { $0.task } }

    /// Remembers the task that carries the exchange.
    func begin(_ task: URLSessionDataTask) {
        state.withLock { $0.task = task }
    }

    /// Takes a response's header.
    ///
    /// - Parameter method: The method of the request that is answered.
    /// - Returns: Why the body cannot be taken; nil if it can.
    func receive(_ response: HTTPURLResponse, to method: String?) -> TransportError? {
        if response.statusCode >= 200 { context.noteResponseHeader() }
        // The attempt's timeout may end the wait for the body.
        if response.statusCode >= 300 { context.noteAnswer(HttpResponse(response, body: Data(), to: request)) }
        // Interim responses (such as 103) come first and have no body, so the last response counts.
        state.withLock { state in
            state.response = response
            state.body.removeAll()
        }
        guard streams == nil else {
            if response.statusCode >= 200 { resolve(.success(Answer(response: response, body: Data()))) }
            return response.hasUnrequestedCoding(to: method) ? .unrequestedCoding : nil
        }
        if response.hasUnrequestedCoding(to: method) { return .unrequestedCoding }
        let fits = response.expectedContentLength <= Int64(responseLimit) || !response.announcesBody(to: method)
        return fits ? nil : .responseTooLarge(limit: responseLimit)
    }

    /// Takes a part of the body; returns false if the body exceeds the limit.
    func receive(_ data: Data) -> Bool {
        if let streams {
            streams.download.write(data)
            return true
        }
        return state.withLock { state in
            // The body was refused or the caller has gone, so further bytes are not kept.
            if case .answered = state.caller { return true }
            guard state.body.count + data.count <= responseLimit else {
                state.body.append(data.prefix(responseLimit - state.body.count))
                return false
            }
            state.body.append(data)
            return true
        }
    }

    /// Reports how many bytes of the request's body have been sent.
    func sent(_ count: Int64) {
        streams?.onSent?(count)
    }

    /// Answers with the bytes that have arrived; the response is `fallback` if the delegate was never told of one.
    func complete(fallback: HTTPURLResponse? = nil) {
        let (response, body) = state.withLock { ($0.response, $0.body) }
        guard let response = response ?? fallback else {
            return fail(TransportError(.badServerResponse))
        }
        resolve(.success(Answer(response: response, body: body)))
        streams?.download.finish()
    }

    /// Answers that the exchange has failed; if the answer has begun, its reader gets the error.
    func fail(_ error: any Error) {
        let (response, body) = state.withLock { state in
            defer { state.body.removeAll() }
            return (state.response, state.body)
        }
        if let response, response.statusCode >= 200 {
            context.noteAnswer(HttpResponse(response, body: body, to: request))
        }
        streams?.download.finish(.failure(error))
        resolve(.failure(error))
    }

    /// The error of a body that is larger than is accepted.
    var tooLarge: TransportError { .responseTooLarge(limit: responseLimit) }
}

/// The parts that an exchange needs to stream its bodies.
struct ExchangeStreams: Sendable {
    /// Where the response's body goes.
    let download: DownloadPipe
    /// The file that Foundation sends, if the transport has made it, kept for as long as the exchange; nil if there is
    /// none.
    let spool: SpoolFile?
    /// Called with the number of bytes that Foundation has sent of a body that it sends by itself; nil if nobody
    /// observes it.
    let onSent: (@Sendable (Int64) -> Void)?
}
