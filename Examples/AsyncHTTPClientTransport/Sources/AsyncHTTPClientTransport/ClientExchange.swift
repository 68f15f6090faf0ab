import AsyncHTTPClient
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NautilusHTTP

/// One request under way, and the caller who waits for its answer.
///
/// The answer can come from two sides, the client's reports and a cancellation anywhere, and is given once.
final class ClientExchange: HTTPClientResponseDelegate {
    /// The answer of a successful exchange; that of a streamed one is without the body.
    struct Answer: Sendable {
        let head: HTTPResponseHead
        let body: ByteBuffer
    }

    typealias Continuation = CheckedContinuation<Answer, any Error>

    private enum Stage {
        case new
        case waiting(Continuation)
        case answered
    }

    private struct State {
        var stage = Stage.new
        /// The request that is sent once there is a connection for it; nil before and after.
        var departure: Departure?
        var isCancelled = false
        /// Whether the client has reported its end.
        var isComplete = false
        /// Whether anything was written; what fails before was not sent.
        var isSent = false
        var task: HTTPClient.Task<Void>?
        var feeding: Task<Void, Never>?
        /// Whether all of the request's body has been handed over.
        var isFed = false
        /// The number of bytes of a streamed answer that are still to come; nil when it is not known.
        var bytesLeft: Int64?
        /// Whether the answer has overtaken the request's body, the rest of which is not sent.
        var isEarly = false
        var head: HTTPResponseHead?
        var body = ByteBuffer()
    }

    private let method: HttpMethod
    /// Knows how long the exchange may take, and is told when the header comes.
    private let context: TransportContext
    /// The most bytes of a body that is not streamed.
    private let responseLimit: Int
    /// Where the body goes when it is streamed; nil when it is not.
    private let chunks: ResponseChunks?
    /// Guards everything about the exchange: the client reports on its threads, the caller cancels on any.
    private let state = NIOLockedValueBox(State())

    init(method: HttpMethod, context: TransportContext, responseLimit: Int, chunks: ResponseChunks? = nil) {
        self.method = method
        self.context = context
        self.responseLimit = responseLimit
        self.chunks = chunks
    }
}

/// The caller's operations.
extension ClientExchange {
    /// Sends a request as soon as there is a connection for it.
    func begin(_ departure: Departure, _ continuation: Continuation) {
        let isCancelled = state.withLockedValue { state in
            if !state.isCancelled { (state.stage, state.departure) = (.waiting(continuation), departure) }
            return state.isCancelled
        }
        guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
        let queues = departure.connections.queues
        if queues.enter(departure) {
            if !depart() { queues.leave(departure.origin) }
        } else if state.withLockedValue({ $0.isCancelled }) {
            queues.forget(departure)
        }
    }

    /// Sends the request over the connection that it has got; false when it has no use for it any more, or its
    /// session is over.
    ///
    /// Called where the exchange before has ended, so that none of the caller's threads has to wake up in between.
    func depart() -> Bool {
        guard let departure = state.withLockedValue({ $0.departure.take() }) else { return false }
        if let refusal = departure.source.refusal {
            fail(refusal)
            return false
        }
        let task = departure.connections.client.execute(request: departure.request, delegate: self)
        let isLate = state.withLockedValue { state in
            state.task = task
            return state.isCancelled
        }
        task.futureResult.whenComplete { result in
            departure.connections.queues.leave(departure.origin)
            self.complete(result)
        }
        if isLate { task.cancel() }
        return true
    }

    /// Ends it: at once for the caller that waits, and then on the wire.
    func cancel() {
        fail(CancellationError(), isCancellation: true)
    }

    /// Ends it with an error of the request's own body.
    func fail(_ error: any Error) {
        fail(error, isCancellation: false)
    }

    /// Remembers what makes the request's body, which ends with the exchange.
    func feed(by feeding: Task<Void, Never>) {
        let isOver = state.withLockedValue { state in
            guard !state.isComplete, !state.isCancelled else { return true }
            state.feeding = feeding
            return false
        }
        if isOver { feeding.cancel() }
    }

    /// The request's body has been handed over.
    func isFed() {
        state.withLockedValue { $0.isFed = true }
    }

    /// Whether anything of the request was written.
    var isSent: Bool { state.withLockedValue { $0.isSent } }

    private func fail(_ error: any Error, isCancellation: Bool) {
        let (stage, departure, task, feeding) = state.withLockedValue { state in
            defer {
                state.isCancelled = true
                state.stage = .answered
            }
            return (state.stage, state.departure.take(), state.task, state.feeding)
        }
        if let departure { departure.connections.queues.forget(departure) }
        chunks?.finish(.failure(error), dropping: isCancellation)
        if case .waiting(let continuation) = stage { continuation.resume(throwing: error) }
        feeding?.cancel()
        task?.cancel()
    }
}

/// The client's reports.
extension ClientExchange {
    func didSendRequestHead(task: HTTPClient.Task<Void>, _ head: HTTPRequestHead) {
        state.withLockedValue { $0.isSent = true }
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        context.noteResponseHeader()
        // The attempt's timeout may end the wait for the body.
        if head.status.code >= 300 { note(Answer(head: head, body: ByteBuffer())) }
        if head.hasUnreadableBody(inAnswerTo: method) {
            if chunks != nil { resolve(.success(Answer(head: head, body: ByteBuffer()))) }
            state.withLockedValue { $0.head = head }
            return task.eventLoop.makeFailedFuture(TransportError.unreadableBody)
        }
        if let chunks {
            let answer = Answer(head: head, body: ByteBuffer())
            // From 300 on the client sends no more of the body, and then waits for its end for ever: so the answer's end is
            // found here. Where its length is not known, its body is left out.
            let isOver = state.withLockedValue { state in
                state.bytesLeft = answer.bodyLength(of: method)
                state.isEarly = state.feeding != nil && !state.isFed && head.status.code >= 300
                return state.isEarly && state.bytesLeft ?? 0 == 0
            }
            if isOver { chunks.finish(.success(())) }
            resolve(.success(answer))
            return task.eventLoop.makeSucceededVoidFuture()
        }
        // Not after HEAD nor with 204 or 304, where the length describes another body, nor of one that is compressed.
        if let length = Answer(head: head, body: ByteBuffer()).bodyLength(of: method), length > responseLimit {
            state.withLockedValue { $0.head = head }
            return task.eventLoop.makeFailedFuture(TransportError.responseTooLarge(limit: responseLimit))
        }
        state.withLockedValue { $0.head = head }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        if let chunks {
            defer { if isOver(after: buffer.readableBytes) { chunks.finish(.success(())) } }
            return chunks.write(buffer, on: task.eventLoop)
        }
        let fits = state.withLockedValue { state in
            guard state.body.readableBytes + buffer.readableBytes <= responseLimit else { return false }
            if state.body.readableBytes == 0 {
                state.body = buffer
            } else {
                state.body.writeImmutableBuffer(buffer)
            }
            return true
        }
        return fits
            ? task.eventLoop.makeSucceededVoidFuture()
            : task.eventLoop.makeFailedFuture(TransportError.responseTooLarge(limit: responseLimit))
    }

    /// Whether these bytes end an answer that has overtaken the request's body.
    private func isOver(after count: Int) -> Bool {
        state.withLockedValue { state in
            state.bytesLeft? -= Int64(count)
            return state.isEarly && state.bytesLeft == 0
        }
    }

    /// Notes the answer as far as it has come, so that its status is not lost.
    private func note(_ answer: Answer) {
        context.noteAnswer(HttpResponse(answer, body: Data(buffer: answer.body, byteTransferStrategy: .copy), url: nil))
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {}

    private func complete(_ result: Result<Void, any Error>) {
        let (isSent, isWhole, head, body, feeding) = state.withLockedValue { state in
            // Both hold on to this exchange.
            defer { (state.task, state.feeding, state.isComplete) = (nil, nil, true) }
            return (state.isSent, state.bytesLeft == 0, state.head, state.body, state.feeding)
        }
        feeding?.cancel()
        switch result {
        case .success:
            chunks?.finish(.success(()))
            if let head { resolve(.success(Answer(head: head, body: body))) }
        case .failure(let error):
            let failure = TransportError(of: error, isSent: isSent)
            // A server may answer and close before the client has taken note that it has sent all.
            chunks?.finish(isWhole ? .success(()) : .failure(failure))
            if let head { note(Answer(head: head, body: body)) }
            resolve(.failure(failure))
        }
    }

    private func resolve(_ result: Result<Answer, any Error>) {
        let continuation: Continuation? = state.withLockedValue { state in
            guard case .waiting(let continuation) = state.stage else { return nil }
            state.stage = .answered
            return continuation
        }
        continuation?.resume(with: result)
    }
}
