import NIOConcurrencyHelpers
import NIOCore
import Nautilus

/// What has come and was not taken yet: filled by the event loop, emptied by the reader.
final class MessageInbox: Sendable {
    private struct State {
        var messages = CircularBuffer<WebSocketMessage>()
        var byteCount = 0
        var readers = CircularBuffer<Reply<WebSocketMessage>>()
        var ending: (any Error)?
        /// Whether a read was refused for want of room.
        var isHoldingBack = false
    }

    /// A few messages may be large: as many bytes are enough.
    private static let bytesAhead = 262_144

    private let messagesAhead: Int
    private let state = NIOLockedValueBox(State())

    init(messagesAhead: Int) {
        self.messagesAhead = max(1, messagesAhead)
    }

    /// What it has ended with; nil as long as it has not.
    var ending: (any Error)? { state.withLockedValue { $0.ending } }

    /// Whether more may be read; if not, ``take()`` says when it may.
    func admitsMore() -> Bool {
        state.withLockedValue { state in
            state.isHoldingBack = !hasRoom(state)
            return !state.isHoldingBack
        }
    }

    /// A message has come.
    func put(_ message: WebSocketMessage) {
        let reader = state.withLockedValue { state -> Reply<WebSocketMessage>? in
            guard state.ending == nil else { return nil }
            if let reader = state.readers.popFirst() { return reader }
            state.messages.append(message)
            state.byteCount += message.byteCount
            return nil
        }
        reader?.complete(.success(message))
    }

    /// The next message, or the end behind the last one; and whether reading goes on now.
    func take() -> (reply: Reply<WebSocketMessage>, readsOn: Bool) {
        let reply = Reply<WebSocketMessage>()
        let (result, readsOn) = state.withLockedValue { state -> (Result<WebSocketMessage, any Error>?, Bool) in
            guard let message = state.messages.popFirst() else {
                if let ending = state.ending { return (.failure(ending), false) }
                state.readers.append(reply)
                return (nil, false)
            }
            state.byteCount -= message.byteCount
            guard state.isHoldingBack, hasRoom(state) else { return (.success(message), false) }
            state.isHoldingBack = false
            return (.success(message), true)
        }
        if let result { reply.complete(result) }
        return (reply, readsOn)
    }

    /// Ends it; only the first end counts.
    ///
    /// - Parameter dropping: Whether what nobody has taken is lost with it.
    func end(_ error: any Error, dropping: Bool = false) {
        let (readers, ending) = state.withLockedValue { state in
            if dropping { (state.messages, state.byteCount) = ([], 0) }
            let ending = state.ending ?? error
            state.ending = ending
            defer { state.readers = [] }
            return (state.readers, ending)
        }
        readers.forEach { $0.complete(.failure(ending)) }
    }

    private func hasRoom(_ state: State) -> Bool {
        state.messages.count < messagesAhead && state.byteCount < Self.bytesAhead
    }
}

extension WebSocketMessage {
    /// The size of what goes on the wire, without its frame.
    var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .data(let data): data.count
        }
    }
}
