import NIOConcurrencyHelpers

/// One answer to one task, whoever gives it first: an event loop, or the task's cancellation.
final class Reply<Value: Sendable>: Sendable {
    private enum State {
        case pending
        case awaited(CheckedContinuation<Value, any Error>)
        case complete(Result<Value, any Error>)
        case taken
    }

    /// Guards who is the first.
    private let state = NIOLockedValueBox(State.pending)

    /// Answers; only the first answer counts.
    func complete(_ result: Result<Value, any Error>) {
        let continuation = state.withLockedValue { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .pending:
                state = .complete(result)
                return nil
            case .awaited(let continuation):
                state = .taken
                return continuation
            case .complete, .taken:
                return nil
            }
        }
        continuation?.resume(with: result)
    }

    /// Waits for the answer, once.
    ///
    /// - Throws: The answer's error; `CancellationError`, at once when the task is cancelled.
    var value: Value {
        get async throws {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let result = state.withLockedValue { state -> Result<Value, any Error>? in
                        guard case .complete(let result) = state else {
                            state = .awaited(continuation)
                            return nil
                        }
                        state = .taken
                        return result
                    }
                    if let result { continuation.resume(with: result) }
                }
            } onCancel: {
                complete(.failure(CancellationError()))
            }
        }
    }
}
