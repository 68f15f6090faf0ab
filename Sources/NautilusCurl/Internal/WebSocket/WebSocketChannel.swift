import Foundation
import NautilusHTTP

/// An open web socket between its callers, which are tasks, and a loop, which moves its bytes. Callers deposit messages
/// to send, the loop those that have arrived, and neither waits for the other under the lock.
final class WebSocketChannel: Sendable {
    /// A message that has not been written yet, and its sender.
    fileprivate struct Outgoing {
        let message: WebSocketMessage
        let sender: Waiter<Void>
    }

    fileprivate struct State {
        var machine: WebSocketMachine
        var messages: [WebSocketMessage] = []
        var byteCount = 0
        var readers = WaitQueue<Waiter<WebSocketMessage>>()
        /// The messages to send, in order.
        var outgoing: [Outgoing] = []
        /// The sender of the message being written; nil if there is none, or it has left.
        var underWay: Waiter<Void>?
        var pings: [(number: UInt64, caller: Waiter<Void>)] = []
        var closers = WaitQueue<Waiter<Void>>()
        /// Whether a close frame has to be written.
        var isSayingClosing = false
        /// Why no more messages come; nil while they may.
        var ending: (any Error)?
        /// Whether the loop has ended the connection.
        var isDisconnected = false
    }

    /// A step to take when the lock is released.
    fileprivate typealias Resumption = @Sendable () -> Void

    /// The most bytes of messages to read ahead, since a few messages may be large.
    private static let bytesAhead = 262_144

    private let messageLimit: Int
    private let messagesAhead: Int
    private let state: Locked<State>

    init(messageLimit: Int, messagesAhead: Int, nextKey: @escaping @Sendable () -> UInt32) {
        self.messageLimit = max(0, messageLimit)
        self.messagesAhead = max(1, messagesAhead)
        self.state = Locked(State(machine: WebSocketMachine(messageLimit: messageLimit, nextKey: nextKey)))
    }

    private func change(_ body: (inout State, inout [Resumption]) -> Void) {
        let resumptions: [Resumption] = state.withLock { state in
            var resumptions: [Resumption] = []
            body(&state, &resumptions)
            return resumptions
        }
        for resume in resumptions { resume() }
    }
}

/// The callers' side. The functions take a closure that tells the loop that there is something to do.
extension WebSocketChannel {
    /// Deposits a message, and waits until all of it has been handed to the system.
    ///
    /// A message whose sender is cancelled while it is queued is not sent. A message that has begun is sent completely,
    /// since half a frame would end the connection.
    func send(_ message: WebSocketMessage, wake: @Sendable () -> Void) async throws {
        try await state.wait { state, sender -> (any Error)? in
            guard state.machine.phase == .open, !state.isDisconnected else { return state.notBegun }
            state.outgoing.append(Outgoing(message: message, sender: sender))
            return nil
        } joined: { refusal, sender in
            if let refusal { sender.resume(throwing: refusal) } else { wake() }
        } leave: { state, ticket in
            if let index = state.outgoing.firstIndex(where: { $0.sender.id == ticket }) {
                return state.outgoing.remove(at: index).sender
            }
            guard state.underWay?.id == ticket else { return nil }
            return state.underWay.take()
        }
    }

    /// Waits for the next message; throws the end after the last one.
    func receive(wake: @Sendable () -> Void) async throws -> WebSocketMessage {
        try await state.wait { state, reader -> (readsOn: Bool, resumptions: [Resumption]) in
            let wasFull = !self.hasRoom(state)
            guard let message = state.takeMessage() else {
                if let ending = state.ending { return (false, [{ reader.resume(throwing: ending) }]) }
                state.readers.append(reader)
                return (false, [])
            }
            var resumptions: [Resumption] = [{ reader.resume(returning: message) }]
            // Bytes that are here already may fill the room that has been made, and callers may be waiting for pongs
            // among them.
            self.readOn(&state, &resumptions)
            return (wasFull, resumptions)
        } joined: { outcome, _ in
            for resume in outcome.resumptions { resume() }
            if outcome.readsOn { wake() }
        } leave: { state, ticket in
            state.readers.remove(ticket)
        }
    }

    /// Sends a ping, and waits for its pong.
    func ping(wake: @Sendable () -> Void) async throws {
        try await state.wait { state, caller -> (any Error)? in
            guard state.machine.phase == .open, !state.isDisconnected else { return state.notBegun }
            state.pings.append((state.machine.ping(), caller))
            return nil
        } joined: { refusal, caller in
            if let refusal { caller.resume(throwing: refusal) } else { wake() }
        } leave: { state, ticket in
            guard let index = state.pings.firstIndex(where: { $0.caller.id == ticket }) else { return nil }
            return state.pings.remove(at: index).caller
        }
    }

    /// Closes the socket; only the first closing counts. Waiting callers are told at once.
    func beginClosing(_ closure: WebSocketClosure) {
        change { state, resumptions in state.close(closure, &resumptions) }
    }

    /// Waits until a close frame that is due has been written, or can no longer be.
    func waitForClosing(wake: @Sendable () -> Void) async throws {
        try await state.wait { state, closer in
            guard state.isSayingClosing, !state.isDisconnected else { return false }
            state.closers.append(closer)
            return true
        } joined: { mustWait, closer in
            if mustWait { wake() } else { closer.resume() }
        } leave: { state, ticket in
            state.closers.remove(ticket)
        }
    }
}

/// The loop's side.
extension WebSocketChannel {
    /// Whether more bytes may be read, because there is room for what they bring, or because only the end of the
    /// connection is still to come.
    var wantsInput: Bool {
        state.withLock { $0.ending != nil || hasRoom($0) }
    }

    /// Whether the connection is kept only until the server ends it, for a limited time.
    var isClosing: Bool {
        state.withLock { $0.machine.phase != .open }
    }

    /// Whether the connection is no longer needed: both sides have closed, this one first, and nothing is left to
    /// write.
    var isOver: Bool {
        state.withLock { $0.isDisconnected || $0.machine.phase == .closed && !$0.isSayingClosing }
    }

    /// Takes bytes that have arrived.
    func take(_ bytes: UnsafeRawBufferPointer) {
        change { state, resumptions in
            state.machine.feed(bytes)
            readOn(&state, &resumptions)
        }
    }

    /// Returns the next frame to write; nil if there is none. Called when all of the last frame has been handed to the
    /// system.
    func nextFrame() -> [UInt8]? {
        var frame: [UInt8]?
        change { state, resumptions in
            if let sender = state.underWay.take() { resumptions.append { sender.resume() } }
            frame = state.nextFrame()
            guard frame == nil, state.isSayingClosing else { return }
            // The close frame was the last frame.
            state.isSayingClosing = false
            state.resumeClosers(&resumptions)
        }
        return frame
    }

    /// Notes that the connection has ended or is being ended. Waiting callers are told what came first, a closing or
    /// the loss of the connection.
    func disconnect() {
        change { state, resumptions in
            guard !state.isDisconnected else { return }
            // The server's close frame may be after messages for which there was no room.
            readOn(&state, &resumptions, beyondRoom: true)
            state.isDisconnected = true
            state.end(TransportError(.networkConnectionLost), &resumptions)
            let (ending, notBegun) = (state.lastWord, state.notBegun)
            if let sender = state.underWay.take() { resumptions.append { sender.resume(throwing: ending) } }
            state.failOutgoing(notBegun, &resumptions)
            state.failPings(ending, &resumptions)
            state.isSayingClosing = false
            state.resumeClosers(&resumptions)
        }
    }

    /// Reads events from the bytes that have arrived, as long as there is room.
    private func readOn(_ state: inout State, _ resumptions: inout [Resumption], beyondRoom: Bool = false) {
        while beyondRoom || hasRoom(state) || state.ending != nil {
            guard let event = state.machine.next() else { return }
            switch event {
            case .message(let message): state.put(message, &resumptions)
            case .pong(let number): state.answerPings(upTo: number, &resumptions)
            case .closed(let closure): state.leave(closure, &resumptions)
            case .failed(.messageTooBig):
                state.leave(TransportError.responseTooLarge(limit: messageLimit), &resumptions)
            case .failed(let violation): state.leave(WebSocketClosure(violation.code), &resumptions)
            }
        }
    }

    private func hasRoom(_ state: State) -> Bool {
        state.messages.count < messagesAhead && state.byteCount < Self.bytesAhead
    }
}

extension WebSocketChannel.State {
    /// The error for a message that can no longer be sent; if the connection has broken off, it says
    /// `Delivery.notSent`.
    fileprivate var notBegun: any Error {
        switch ending {
        case TransportError.failed?, nil: TransportError(.networkConnectionLost, delivery: .notSent)
        case let ending?: ending
        }
    }

    fileprivate var lastWord: any Error { ending ?? TransportError(.networkConnectionLost) }

    fileprivate mutating func put(_ message: WebSocketMessage, _ resumptions: inout [WebSocketChannel.Resumption]) {
        if let reader = readers.popFirst() { return resumptions.append { reader.resume(returning: message) } }
        messages.append(message)
        byteCount += message.byteCount
    }

    fileprivate mutating func takeMessage() -> WebSocketMessage? {
        guard !messages.isEmpty else { return nil }
        let message = messages.removeFirst()
        byteCount -= message.byteCount
        return message
    }

    /// Removes and returns the frame that is due. Control frames come between messages (RFC 6455 §5.4).
    fileprivate mutating func nextFrame() -> [UInt8]? {
        if let frame = machine.dueFrame() { return frame }
        guard let next = outgoing.first, let frame = machine.frame(next.message) else { return nil }
        outgoing.removeFirst()
        underWay = next.sender
        return frame
    }

    fileprivate mutating func answerPings(upTo number: UInt64, _ resumptions: inout [WebSocketChannel.Resumption]) {
        // The pong of a later ping also answers the earlier ones (§5.5.3).
        while let first = pings.first, first.number <= number {
            pings.removeFirst()
            resumptions.append { first.caller.resume() }
        }
    }

    /// Closes from this side, which drops unread messages.
    fileprivate mutating func close(_ closure: WebSocketClosure, _ resumptions: inout [WebSocketChannel.Resumption]) {
        (messages, byteCount) = ([], 0)
        guard machine.phase == .open, !isDisconnected else { return end(closure, &resumptions) }
        machine.close(closure)
        leave(closure, &resumptions)
    }

    /// Notes that a close frame is due; messages that have not begun are no longer sent.
    fileprivate mutating func leave(_ error: any Error, _ resumptions: inout [WebSocketChannel.Resumption]) {
        end(error, &resumptions)
        isSayingClosing = true
        failOutgoing(error, &resumptions)
        failPings(error, &resumptions)
    }

    /// Notes that no more messages come; only the first end counts.
    fileprivate mutating func end(_ error: any Error, _ resumptions: inout [WebSocketChannel.Resumption]) {
        if ending == nil { ending = error }
        let last = lastWord
        for reader in readers.removeAll() { resumptions.append { reader.resume(throwing: last) } }
    }

    fileprivate mutating func failOutgoing(_ error: any Error, _ resumptions: inout [WebSocketChannel.Resumption]) {
        for next in outgoing { resumptions.append { next.sender.resume(throwing: error) } }
        outgoing = []
    }

    fileprivate mutating func failPings(_ error: any Error, _ resumptions: inout [WebSocketChannel.Resumption]) {
        for ping in pings { resumptions.append { ping.caller.resume(throwing: error) } }
        pings = []
    }

    fileprivate mutating func resumeClosers(_ resumptions: inout [WebSocketChannel.Resumption]) {
        for closer in closers.removeAll() { resumptions.append { closer.resume() } }
    }
}

extension WebSocketMessage {
    /// The size of the message as sent, without its frame.
    fileprivate var byteCount: Int {
        if case .text(let text) = self { text.utf8.count } else { bytes.count }
    }
}
