import Nautilus

/// One direction of a scripted web socket. It holds a limited number of messages, so that a fast sender waits for the
/// reader.
final class MessageChannel: Sendable {
    private struct State {
        var messages: [WebSocketMessage] = []
        var ending: (any Error)?
        var waiters = WaitQueue<Waiter<Void>>()
        /// Counts the changes that a waiter may be waiting for.
        var changes = 0
    }

    private let capacity: Int
    private let state = Locked(State())

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// Adds a message, waiting until there is room.
    ///
    /// - Throws: The error that the channel has ended with; `CancellationError`.
    func put(_ message: WebSocketMessage) async throws {
        try await attempt { state -> Void? in
            if let ending = state.ending { throw ending }
            guard state.messages.count < self.capacity else { return nil }
            state.messages.append(message)
            return ()
        }
    }

    /// Takes a message, waiting until there is one; the end comes after the last message.
    ///
    /// - Throws: The error that the channel has ended with; `CancellationError`.
    func take() async throws -> WebSocketMessage {
        try await attempt { state -> WebSocketMessage? in
            if !state.messages.isEmpty { return state.messages.removeFirst() }
            if let ending = state.ending { throw ending }
            return nil
        }
    }

    /// Ends the channel; only the first end counts.
    ///
    /// - Parameter dropping: Whether messages that were not taken are lost.
    func end(_ error: any Error, dropping: Bool = false) {
        let waiters = state.withLock { state in
            if state.ending == nil { state.ending = error }
            if dropping { state.messages = [] }
            state.changes += 1
            return state.waiters.removeAll()
        }
        waiters.forEach { $0.resume() }
    }

    /// Tries again after every change, until there is a result.
    private func attempt<Value: Sendable>(
        _ body: @Sendable (inout State) throws -> Value?
    ) async throws -> Value {
        while true {
            try Task.checkCancellation()
            let (value, changes, waiters) = try state.withLock { state in
                let value = try body(&state)
                if value != nil { state.changes += 1 }
                return (value, state.changes, value == nil ? [] : state.waiters.removeAll())
            }
            waiters.forEach { $0.resume() }
            if let value { return value }
            try await state.wait(in: \.waiters) { $0.changes == changes }
        }
    }
}
