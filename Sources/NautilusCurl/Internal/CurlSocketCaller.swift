#if os(Linux)
    import Foundation
    import NautilusHTTP

    /// The caller of a web socket's opening, until there is an answer.
    final class CurlSocketCaller: Sendable {
        /// The answer to an opening.
        enum Answer: Sendable {
            case opened(HttpHeader)
            case declined(HttpResponse<Data>)
        }

        private struct State {
            var waiter: Waiter<Answer>?
            var hasAnswer = false
            var hasLeft = false
        }

        private let state = Locked(State())

        /// Waits for the answer.
        ///
        /// - Throws: The error with which the opening has failed; `CancellationError`, at once when the task is
        ///   cancelled.
        func answer(start: () -> Void) async throws -> Answer {
            try await state.wait { state, waiter in
                state.waiter = waiter
            } joined: { _, _ in
                start()
            } leave: { state, _ in
                guard !state.hasAnswer else { return nil }
                state.hasLeft = true
                return state.waiter.take()
            }
        }

        /// Gives the caller the answer; only the first one counts.
        func resolve(_ answer: Result<Answer, any Error>) {
            let waiter = state.withLock { state in
                state.hasAnswer = true
                return state.waiter.take()
            }
            waiter?.resume(with: answer)
        }

        /// Notes that the socket is no longer needed.
        func leave() {
            state.withLock { $0.hasLeft = true }
        }

        /// Whether the caller waits for the socket or uses it.
        var wantsSocket: Bool { state.withLock { !$0.hasLeft } }
    }
#endif
