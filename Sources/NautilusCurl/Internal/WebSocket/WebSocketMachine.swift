import Foundation
import NautilusHTTP

/// The state of an open web socket according to RFC 6455, without reading or writing: what bytes mean, which frames are
/// due, and how the socket closes.
struct WebSocketMachine: Sendable {
    /// Something for the socket's user.
    enum Event: Hashable, Sendable {
        case message(WebSocketMessage)
        /// The answer to the ping with this number, and to those before it.
        case pong(UInt64)
        /// The server has closed the socket.
        case closed(WebSocketClosure)
        /// The server has violated the protocol.
        case failed(WebSocketViolation)
    }

    enum Phase: Hashable, Sendable {
        case open
        /// This end has closed, and sends nothing more (§5.5.1); the server's answer is still to come.
        case closing
        /// The server has closed, or has violated the protocol. It is sent a close frame, and ends the connection
        /// (§7.1.1).
        case leaving
        /// Both ends have closed, this one first. The connection is no longer needed.
        case closed
    }

    /// How many pings are answered one by one: as many as a server may have reason to send at once.
    static let echoLimit = 16

    private(set) var phase = Phase.open
    private var decoder: WebSocketDecoder
    /// Draws the key that masks a frame.
    private let nextKey: @Sendable () -> UInt32
    /// The data of the pings to answer; of many, only the last ones (§5.5.3), so that a server that only sends pings
    /// cannot fill the memory.
    private var dueEchoes: [[UInt8]] = []
    private var duePings: [UInt64] = []
    private var lastPing: UInt64 = 0
    private var lastSentPing: UInt64 = 0
    private var dueClosure: WebSocketClosure?

    init(messageLimit: Int, nextKey: @escaping @Sendable () -> UInt32) {
        self.decoder = WebSocketDecoder(messageLimit: messageLimit)
        self.nextKey = nextKey
    }
}

/// Receiving.
extension WebSocketMachine {
    /// Adds bytes, for ``next()`` to read; after the server's closing, bytes are ignored.
    mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        if phase == .open || phase == .closing { decoder.feed(bytes) }
    }

    /// Returns the next event; nil if more bytes are needed.
    mutating func next() -> Event? {
        while phase == .open || phase == .closing {
            do throws(WebSocketViolation) {
                guard let item = try decoder.next() else { return nil }
                if let event = phase == .open ? event(item) : lastEvent(item) { return event }
            } catch {
                // The error's code cannot be sent after a close frame, since nothing may follow that.
                guard phase == .open else {
                    phase = .closed
                    return nil
                }
                leave(WebSocketClosure(error.code))
                return .failed(error)
            }
        }
        return nil
    }

    private mutating func event(_ item: WebSocketDecoder.Item) -> Event? {
        switch item {
        case .message(let message): return .message(message)
        case .ping(let data): dueEchoes = dueEchoes.suffix(Self.echoLimit - 1) + [data]
        case .pong(let data):
            // A pong that was not asked for is only a heartbeat.
            guard data.count == 8 else { return nil }
            let number = data.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return number > 0 && number <= lastSentPing ? .pong(number) : nil
        case .close(let closure):
            // The same code goes back, without the reason (§5.5.1).
            leave(WebSocketClosure(closure.code))
            return .closed(closure)
        }
        return nil
    }

    /// Handles an item after this end has closed, when only the server's closing counts.
    private mutating func lastEvent(_ item: WebSocketDecoder.Item) -> Event? {
        if case .close = item { phase = .closed }
        return nil
    }

    private mutating func leave(_ closure: WebSocketClosure) {
        (phase, dueClosure, dueEchoes, duePings) = (.leaving, closure, [], [])
    }
}

/// Sending.
extension WebSocketMachine {
    /// The frame of a message, which must be written before any frame that is requested later; nil once the socket is
    /// closed.
    func frame(_ message: WebSocketMessage) -> [UInt8]? {
        guard phase == .open else { return nil }
        return switch message {
        case .text(let text): WebSocketFrame.encoded(.text, Data(text.utf8), key: nextKey())
        case .data(let data): WebSocketFrame.encoded(.binary, data, key: nextKey())
        }
    }

    /// Makes a ping due; returns its number, which the pong will have, too.
    mutating func ping() -> UInt64 {
        lastPing += 1
        if phase == .open { duePings.append(lastPing) }
        return lastPing
    }

    /// Closes the socket unless it is closed. Further messages of the server are dropped, but its closing still counts.
    mutating func close(_ closure: WebSocketClosure) {
        guard phase == .open else { return }
        (phase, dueClosure, dueEchoes, duePings) = (.closing, closure, [], [])
        decoder.isDropping = true
    }

    /// Removes and returns the next control frame that is due; nil for none. It is written between messages.
    mutating func dueFrame() -> [UInt8]? {
        if let closure = dueClosure.take() {
            return WebSocketFrame.encoded(.close, closure.payload, key: nextKey())
        }
        if !dueEchoes.isEmpty { return WebSocketFrame.encoded(.pong, Data(dueEchoes.removeFirst()), key: nextKey()) }
        guard !duePings.isEmpty else { return nil }
        let number = duePings.removeFirst()
        lastSentPing = number
        let data = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
        return WebSocketFrame.encoded(.ping, Data(data), key: nextKey())
    }
}
