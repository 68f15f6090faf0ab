#if os(Linux)
    import Foundation

    /// One request under way, and the caller that waits for its answer.
    ///
    /// The answer can come from two sides, the loop's reports and a cancellation anywhere, and is given once.
    struct CurlExchange: Sendable {
        /// The answer of a successful exchange; of a streamed one, without the body.
        struct Answer: Sendable {
            let head: CurlResponseHead
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
            /// The loop that carries it; nil when libcurl is done with it.
            var lease: CurlLoop.Lease?
            var trailers: HttpHeader = [:]
        }

        /// Where the response's body goes when it is streamed; nil when it is kept until it is whole.
        let download: CurlDownload?
        /// Where the request's body comes from when it is a stream; nil when it is not.
        let upload: CurlUpload?
        private let state: Locked<State>

        init(_ lease: CurlLoop.Lease, download: CurlDownload?, upload: CurlUpload?) {
            self.download = download
            self.upload = upload
            self.state = Locked(State(lease: lease))
        }

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
        func resolve(_ result: Result<Answer, any Error>) {
            resolve(result, isOver: false)
        }

        private func resolve(_ result: Result<Answer, any Error>, isOver: Bool) {
            let (continuation, lease) = state.withLock { state -> (Continuation?, CurlLoop.Lease?) in
                defer { state.caller = .answered }
                let lease = isOver ? state.lease.take() : nil
                guard case .waiting(let continuation) = state.caller else { return (nil, lease) }
                return (continuation, lease)
            }
            continuation?.resume(with: result)
            // The last one ends the loop, which must not happen under a lock.
            withExtendedLifetime(lease) {}
        }

        /// Ends it for a caller or a reader that has gone.
        func abandon() {
            download?.abandon()
            upload?.close()
            resolve(.failure(CancellationError()))
        }

        /// Tells everybody how it has ended, and lets the loop go; not to be called under the loop's locks.
        func end(_ result: Result<Answer, any Error>) {
            if download != nil, case .success(let answer) = result {
                let trailers = answer.head.trailers
                state.withLock { $0.trailers = trailers }
            }
            download?.finish(result.map { _ in () })
            upload?.close()
            resolve(result, isOver: true)
        }

        /// The fields that came behind a streamed body; empty until all of it has come.
        var trailers: HttpHeader { state.withLock { $0.trailers } }

        /// The loop that carries it; nil when libcurl is done with it.
        var lease: CurlLoop.Lease? { state.withLock { $0.lease } }

        /// Whether the caller has its answer.
        var isAnswered: Bool {
            state.withLock { if case .answered = $0.caller { true } else { false } }
        }
    }
#endif
