import Foundation
import Nautilus

extension HttpBodyStream {
    /// The chunks as server-sent events, as they come. An event that is not whole when the body ends is dropped.
    ///
    /// The events of this body alone. `Request.events(with:)` reconnects when it ends.
    ///
    /// - Parameter limit: The most bytes of an event, and of each of its lines. Default: 1 MiB, so that a stream that
    ///   never ends an event does not fill the memory; a larger one ends the sequence with
    ///   `ReadError/tooLarge(limit:)`.
    public func events(limit: Int = 1_048_576) -> Events { Events(stream: self, limit: limit) }

    /// Events of a body.
    public struct Events: AsyncSequence {
        /// An event.
        public typealias Element = ServerSentEvent

        let stream: HttpBodyStream
        let limit: Int

        /// Reads the body; once, when it is one-shot.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(chunks: stream.makeAsyncIterator(), parser: EventParser(limit: limit), coders: stream.coders)
        }

        /// Takes one event after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            var chunks: HttpBodyStream.AsyncIterator?
            var parser: EventParser
            let coders: JsonCoders.Carried?

            /// The next event; nil after the last.
            public mutating func next() async throws -> ServerSentEvent? {
                do {
                    while chunks != nil {
                        if var event = try parser.next() {
                            event.coders = coders
                            return event
                        }
                        guard let chunk = try await chunks?.next() else { break }
                        parser.append(chunk)
                    }
                    chunks = nil
                    return nil
                } catch {
                    chunks = nil
                    throw error
                }
            }
        }
    }
}

/// One event of a stream of server-sent events.
public struct ServerSentEvent: Hashable, Sendable {
    /// The kind of event; `message` where the server does not say.
    public var type: String
    /// The data; several lines are joined by LF.
    public var data: String
    /// The identifier of the last event that had one, this one included; empty when none had.
    public var id: String
    /// The coders of the service that it comes from; nil for the standard ones, and for an event of one's own.
    var coders: JsonCoders.Carried?

    /// Creates an event, as a test does.
    ///
    /// - Parameters:
    ///   - type: The kind. Default: `message`, as of an event whose server does not say.
    ///   - data: The data.
    ///   - id: The identifier. Default: none.
    public init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }

    /// The data, decoded as JSON.
    ///
    /// ```swift
    /// for try await event in WatchNotes().events(with: service) {
    ///     if event.type == "note" { show(try event.decode(as: Note.self)) }
    /// }
    /// ```
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - decoder: The decoder. Default: nil, a new one of the coders of the service that has sent the event.
    /// - Throws: `DecodingError`.
    public func decode<Value: Decodable>(
        as type: Value.Type = Value.self,
        decoder: JSONDecoder? = nil
    ) throws -> Value {
        try (decoder ?? coders.decoder()).decode(type, from: Data(data.utf8))
    }
}

extension ServerSentEvent {
    /// Whether type, data and identifier are the same.
    public static func == (left: ServerSentEvent, right: ServerSentEvent) -> Bool {
        (left.type, left.data, left.id) == (right.type, right.data, right.id)
    }

    /// Hashes type, data and identifier.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(data)
        hasher.combine(id)
    }
}

/// Reads server-sent events out of bytes that come in pieces of any size (WHATWG HTML §9.2.6, "Interpreting an event
/// stream"). Every sequence of bytes means something: there is no malformed stream.
struct EventParser: Sendable {
    /// The identifier of the last event that had one, which a reconnection tells the server.
    private(set) var lastEventId: String
    /// How long the server asks to wait before a reconnection; nil when it has not said.
    private(set) var reconnectionDelay: Duration?

    private let limit: Int
    private var splitter: LineSplitter
    private var isAtStart = true
    private var type = ""
    private var data: [UInt8] = []
    private var id: String

    /// - Parameters:
    ///   - lastEventId: The identifier that the stream is continued from.
    ///   - limit: The most bytes of an event.
    init(lastEventId: String = "", limit: Int) {
        self.lastEventId = lastEventId
        self.limit = limit
        id = lastEventId
        splitter = LineSplitter(endsAtCarriageReturn: true, limit: limit)
    }

    /// Takes bytes in.
    mutating func append(_ chunk: Data) { splitter.append(chunk) }

    /// The stream has ended: an event that was not whole is dropped, and another stream follows. Identifier and delay
    /// stay, as browsers have it.
    mutating func restart() {
        let delay = reconnectionDelay
        self = EventParser(lastEventId: lastEventId, limit: limit)
        reconnectionDelay = delay
    }

    /// The next event; nil when more bytes are needed.
    mutating func next() throws(HttpBodyStream.ReadError) -> ServerSentEvent? {
        while var line = try splitter.next() {
            if isAtStart, line.starts(with: Self.byteOrderMark) { line = line.dropFirst(Self.byteOrderMark.count) }
            isAtStart = false
            if !line.isEmpty {
                try process(line)
            } else if let event = dispatch() {
                return event
            }
        }
        return nil
    }

    /// The most bytes of an identifier that is kept: as much as servers commonly take in a header field, and it is sent back
    /// with each connection. A longer one counts as none.
    static let longestId = 8_192

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private mutating func process(_ line: ArraySlice<UInt8>) throws(HttpBodyStream.ReadError) {
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        let name = line[..<(colon ?? line.endIndex)]
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }

        // A line that begins with a colon, a comment, has an empty name.
        if name.elementsEqual("data".utf8) {
            guard data.count + value.count <= limit else { throw .tooLarge(limit: limit) }
            data += value
            data.append(UInt8(ascii: "\n"))
        } else if name.elementsEqual("event".utf8) {
            type = String(decoding: value, as: UTF8.self)
        } else if name.elementsEqual("id".utf8) {
            if !value.contains(0), value.count <= Self.longestId { id = String(decoding: value, as: UTF8.self) }
        } else if name.elementsEqual("retry".utf8) {
            if !value.isEmpty, value.allSatisfy(\.isDigit) { reconnectionDelay = Self.delay(value) }
        }
    }

    /// So many milliseconds, as many as an hour at most: a longer wait cannot be meant.
    private static func delay(_ digits: ArraySlice<UInt8>) -> Duration {
        let longest = 3_600_000
        return .milliseconds(digits.reduce(0) { min(longest, $0 * 10 + Int($1 - 0x30)) })
    }

    /// Ends an event, at an empty line; nil when it has no data.
    private mutating func dispatch() -> ServerSentEvent? {
        lastEventId = id
        defer { (type, data) = ("", []) }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type,
            data: String(decoding: data.dropLast(), as: UTF8.self),
            id: lastEventId
        )
    }
}
