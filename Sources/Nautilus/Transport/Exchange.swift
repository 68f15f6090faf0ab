import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request under way, and the caller who waits for its answer.
///
/// The answer can come from two sides, the delegate's reports and a cancellation anywhere, and is given once.
final class Exchange: @unchecked Sendable {
    // Unchecked: `task` is only touched on the queue of the `ExchangeDelegate`, `response` and `body` only by its
    // reports, which come one after the other.

    /// What a successful exchange yields.
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

    /// Where it goes; nil for a URL without a host, which needs no connection to fail.
    let origin: HttpOrigin?
    /// What knows how long the exchange may take.
    let context: AttemptContext
    private let responseLimit: Int
    private let caller = Locked(Caller.expected)
    private(set) var task: URLSessionDataTask?
    private(set) var response: HTTPURLResponse?
    private var body = Data()

    init(to origin: HttpOrigin?, context: AttemptContext, responseLimit: Int) {
        self.origin = origin
        self.context = context
        self.responseLimit = responseLimit
    }

    /// Lets the caller wait; false, with the caller resumed, when the exchange was cancelled before it began.
    func awaitAnswer(_ continuation: Continuation) -> Bool {
        let isCancelled = caller.withLock { caller in
            if case .answered = caller { return true }
            caller = .waiting(continuation)
            return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
        return !isCancelled
    }

    /// Gives the caller the answer; only the first one counts.
    ///
    /// - Parameter prepare: What has to be under way before the caller goes on, who may release the transport.
    func resolve(_ result: Result<Answer, any Error>, after prepare: () -> Void = {}) {
        let continuation: Continuation? = caller.withLock { caller in
            defer { caller = .answered }
            guard case .waiting(let continuation) = caller else { return nil }
            return continuation
        }
        prepare()
        continuation?.resume(with: result)
    }

    /// Whether the caller has gone, so that there is nothing left to do.
    var isAnswered: Bool {
        caller.withLock { if case .answered = $0 { true } else { false } }
    }
}

/// What the delegate does with an exchange.
extension Exchange {
    /// Remembers the task that carries it.
    func begin(_ task: URLSessionDataTask) {
        self.task = task
    }

    /// Takes a response's header in; false when it announces more than the limit.
    ///
    /// - Parameter method: The method that it answers.
    func receive(_ response: HTTPURLResponse, to method: String?) -> Bool {
        // An interim response (103, say) comes first and brings no body: the last one counts.
        self.response = response
        body.removeAll()
        return response.expectedContentLength <= Int64(responseLimit) || !announcesBody(response, to: method)
    }

    /// Takes a part of the body in; false when it is more than the limit.
    func receive(_ data: Data) -> Bool {
        // Refused already, or its caller has gone: what still comes is not kept.
        guard !isAnswered else { return true }
        guard body.count + data.count <= responseLimit else { return false }
        body.append(data)
        return true
    }

    /// Answers with what has come, or with `fallback` when the delegate was never told of a response.
    func complete(fallback: HTTPURLResponse? = nil) {
        guard let response = response ?? fallback else {
            let error = URLError.Code.badServerResponse
            return resolve(.failure(TransportError(error)))
        }
        resolve(.success(Answer(response: response, body: body)))
    }

    /// Answers that the body is too large, and lets go of it.
    func refuseBody() {
        body.removeAll()
        resolve(.failure(TransportError.responseTooLarge(limit: responseLimit)))
    }

    /// Whether `Content-Length` means a body that follows (RFC 9110 §8.6): not after HEAD and 304, where it describes
    /// another one, nor where there never is one.
    private func announcesBody(_ response: HTTPURLResponse, to method: String?) -> Bool {
        switch response.statusCode {
        case 100..<200, 204, 304: false
        default: method != HttpMethod.head.rawValue
        }
    }
}
