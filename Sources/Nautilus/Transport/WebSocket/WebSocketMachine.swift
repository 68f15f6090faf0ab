import Foundation

/// One open web socket as RFC 6455 has it, without anything that reads or writes: which bytes mean what, which frames
/// are due, and how it closes.
struct WebSocketMachine: Sendable {
    /// Something for the socket's user.
    enum Event: Hashable, Sendable {
        case message(WebSocketMessage)
        /// The answer to the ping with this number, and to those before it.
        case pong(UInt64)
        /// The server has closed.
        case closed(WebSocketClosure)
        /// The server has broken the rules.
        case failed(WebSocketViolation)
    }

    enum Phase: Hashable, Sendable {
        case open
        /// This end has closed, and sends nothing more (§5.5.1); the server's answer is to come.
        case closing
        /// The server has closed, or has broken the rules. It is told, and ends the connection (§7.1.1).
        case leaving
        /// Both have closed, this end first: the connection is of no more use.
        case closed
    }

    /// How many pings are answered one by one: as many as a server may have a reason to send at once.
    static let echoLimit = 16

    private(set) var phase = Phase.open
    private var decoder: WebSocketDecoder
    /// Draws the key that masks a frame.
    private let nextKey: @Sendable () -> UInt32
    /// The data of the pings to answer: of many the last (§5.5.3), so that a server that does nothing else fills no
    /// memory.
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
    /// Takes bytes in, for ``next()`` to read; behind the server's closing nothing counts.
    mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        if phase == .open || phase == .closing { decoder.feed(bytes) }
    }

    /// The next event; nil when more has to come first.
    mutating func next() -> Event? {
        while phase == .open || phase == .closing {
            do throws(WebSocketViolation) {
                guard let item = try decoder.next() else { return nil }
                if let event = phase == .open ? event(item) : lastEvent(item) { return event }
            } catch {
                // Its code would come behind a closing, where nothing may come.
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
            // A pong that was not asked for is a heartbeat, and means nothing else.
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

    /// When this end has closed, only the server's closing counts.
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
    /// The frame of a message, which goes before any other that is asked for later; nil once the socket is closed.
    func frame(_ message: WebSocketMessage) -> [UInt8]? {
        guard phase == .open else { return nil }
        return switch message {
        case .text(let text): WebSocketFrame.encoded(.text, Data(text.utf8), key: nextKey())
        case .data(let data): WebSocketFrame.encoded(.binary, data, key: nextKey())
        }
    }

    /// Makes a ping due; its number is that of its pong.
    mutating func ping() -> UInt64 {
        lastPing += 1
        if phase == .open { duePings.append(lastPing) }
        return lastPing
    }

    /// Closes, unless it is closed: further messages of the server are dropped, but not its closing.
    mutating func close(_ closure: WebSocketClosure) {
        guard phase == .open else { return }
        (phase, dueClosure, dueEchoes, duePings) = (.closing, closure, [], [])
        decoder.isDropping = true
    }

    /// The next control frame that is due; nil for none. It goes between messages.
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
