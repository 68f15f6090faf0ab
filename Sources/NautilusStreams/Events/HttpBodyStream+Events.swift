import Foundation
import Nautilus

extension HttpBodyStream {
    /// The chunks as server-sent events, as they arrive. An event that is incomplete when the body ends is dropped.
    ///
    /// These are the events of this body only; `Request.events(with:)` reconnects when a body ends.
    ///
    /// - Parameter limit: The largest size of an event, and of each of its lines, in bytes. Default: 1 MiB, so that a
    ///   stream that never ends an event does not fill the memory. A larger event ends the sequence with
    ///   `ReadError/tooLarge(limit:)`.
    public func events(limit: Int = 1_048_576) -> Events { Events(stream: self, limit: limit) }

    /// The events of a body.
    public struct Events: AsyncSequence {
        /// An event.
        public typealias Element = ServerSentEvent

        let stream: HttpBodyStream
        let limit: Int

        /// Reads the body, which works only once if the body is one-shot.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(chunks: stream.makeAsyncIterator(), parser: EventParser(limit: limit), coders: stream.coders)
        }

        /// An iterator over the events, one after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            var chunks: HttpBodyStream.AsyncIterator?
            var parser: EventParser
            let coders: JsonCoders.Carried?

            /// The next event; nil after the last.
            public mutating func next() async throws -> ServerSentEvent? {
                do {
                    while chunks != nil {
                        try Task.checkCancellation()
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
    /// The identifier of the latest event that had one, up to and including this one; empty when none had.
    public var id: String
    /// The coders of the service that the event comes from; nil for the standard ones, and for an event that you
    /// create.
    var coders: JsonCoders.Carried?

    /// Creates an event, for example in a test.
    ///
    /// - Parameters:
    ///   - type: The kind of event. Default: `message`, as for an event whose server does not say.
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
    ///   - decoder: The decoder. Default: nil, a new one from the coders of the service that the event comes from.
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

/// A parser of server-sent events from bytes that arrive in pieces of any size (WHATWG HTML §9.2.6, "Interpreting an
/// event stream"). Every sequence of bytes has a meaning: there is no malformed stream.
struct EventParser: Sendable {
    /// The identifier of the latest event that had one; a reconnection sends it to the server.
    private(set) var lastEventId: String
    /// How long the server asks the client to wait before a reconnection; nil when it has not said.
    private(set) var reconnectionDelay: Duration?

    private let limit: Int
    private var splitter: LineSplitter
    private var isAtStart = true
    private var type = ""
    private var data: [UInt8] = []
    private var id: String

    /// - Parameters:
    ///   - lastEventId: The identifier from which the stream is continued.
    ///   - limit: The largest size of an event, in bytes.
    init(lastEventId: String = "", limit: Int) {
        self.lastEventId = lastEventId
        self.limit = limit
        id = lastEventId
        splitter = LineSplitter(endsAtCarriageReturn: true, limit: limit)
    }

    /// Adds bytes.
    mutating func append(_ chunk: Data) { splitter.append(chunk) }

    /// Prepares for another stream after the end of this one: drops an incomplete event, and keeps identifier and
    /// delay, as browsers do.
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

    /// The largest identifier that is kept, in bytes: about as much as servers commonly accept in a header field, since
    /// it is sent back with each connection. A longer one is ignored.
    static let longestId = 8_192

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private mutating func process(_ line: ArraySlice<UInt8>) throws(HttpBodyStream.ReadError) {
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        let name = line[..<(colon ?? line.endIndex)]
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }

        // A comment, a line that begins with a colon, has an empty name.
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

    /// A delay in milliseconds, limited to an hour: no server can mean a longer wait.
    private static func delay(_ digits: ArraySlice<UInt8>) -> Duration {
        let longest = 3_600_000
        return .milliseconds(digits.reduce(0) { min(longest, $0 * 10 + Int($1 - 0x30)) })
    }

    /// Ends an event at an empty line; nil when the event has no data.
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
