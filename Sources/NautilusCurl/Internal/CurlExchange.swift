#if os(Linux)
    import Foundation
    import NautilusHTTP

    /// A request under way, and the caller that waits for its answer.
    ///
    /// The answer can come from two sides, from the loop's reports or from a cancellation on any thread, and is given
    /// only once.
    struct CurlExchange: Sendable {
        /// The answer of a successful exchange, without the body if it is streamed.
        struct Answer: Sendable {
            let head: CurlResponseHead
            let body: Data
        }

        // Unsafe: the state lets it be resumed once, and a checked one would cost every exchange a block of memory.
        typealias Continuation = UnsafeContinuation<Answer, any Error>

        private enum Caller {
            case expected
            case waiting(Continuation)
            case answered
        }

        private struct State {
            var caller = Caller.expected
            /// The loop that carries the exchange; nil when libcurl is done with it.
            var reference: CurlLoop.Reference?
            var trailers: HttpHeader = [:]
        }

        /// Where a streamed response body goes; nil if the body is collected as a whole.
        let download: CurlDownload?
        /// Where a streamed request body comes from; nil if the body is not a stream.
        let upload: CurlUpload?
        private let state: Locked<State>

        init(_ reference: CurlLoop.Reference, download: CurlDownload?, upload: CurlUpload?) {
            self.download = download
            self.upload = upload
            self.state = Locked(State(reference: reference))
        }

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
        func resolve(_ result: Result<Answer, any Error>) {
            resolve(result, isOver: false)
        }

        private func resolve(_ result: Result<Answer, any Error>, isOver: Bool) {
            let (continuation, reference) = state.withLock { state -> (Continuation?, CurlLoop.Reference?) in
                defer { state.caller = .answered }
                let reference = isOver ? state.reference.take() : nil
                guard case .waiting(let continuation) = state.caller else { return (nil, reference) }
                return (continuation, reference)
            }
            continuation?.resume(with: result)
            // Releasing the last reference ends the loop, which must not happen under a lock.
            withExtendedLifetime(reference) {}
        }

        /// Ends the exchange because its caller or its reader has gone.
        func abandon() {
            download?.abandon()
            upload?.close()
            resolve(.failure(CancellationError()))
        }

        /// Tells caller and reader how the exchange has ended, and releases the loop. Must not be called under the
        /// loop's locks.
        func end(_ result: Result<Answer, any Error>) {
            if download != nil, case .success(let answer) = result {
                let trailers = answer.head.trailers
                state.withLock { $0.trailers = trailers }
            }
            download?.finish(result.map { _ in () })
            upload?.close()
            resolve(result, isOver: true)
        }

        /// The fields that came after a streamed body; empty until all of the body has arrived.
        var trailers: HttpHeader { state.withLock { $0.trailers } }

        /// The loop that carries the exchange; nil when libcurl is done with it.
        var reference: CurlLoop.Reference? { state.withLock { $0.reference } }

        /// Whether the caller has its answer.
        var isAnswered: Bool {
            state.withLock { if case .answered = $0.caller { true } else { false } }
        }
    }
#endif
