import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("Server-sent events")
struct EventParserTests {
    /// The meaning of a stream of bytes.
    private struct Meaning: Equatable {
        var events: [ServerSentEvent] = []
        var lastEventId = ""
        var delay: Duration?
    }

    private func meaning(_ chunks: [Data], limit: Int = 10_000) throws -> Meaning {
        var parser = EventParser(limit: limit)
        var meaning = Meaning()
        for chunk in chunks {
            parser.append(chunk)
            while let event = try parser.next() { meaning.events.append(event) }
        }
        (meaning.lastEventId, meaning.delay) = (parser.lastEventId, parser.reconnectionDelay)
        return meaning
    }

    @Test("an event's data is decoded")
    func decode() throws {
        #expect(try Self.event("[1,\n2]").decode(as: [Int].self) == [1, 2])
        #expect(throws: DecodingError.self) { try Self.event("").decode(as: [Int].self) }
    }

    private static func event(_ data: String, type: String = "message", id: String = "") -> ServerSentEvent {
        ServerSentEvent(type: type, data: data, id: id)
    }

    /// Streams, those of the standard's examples first, and their events.
    private static let streams: [(String, [ServerSentEvent])] = [
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [event("YHOO\n+2\n10")]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
            [event("first event", id: "1"), event("second event")]
        ),
        ("data\n\ndata\ndata\n\ndata:", [event(""), event("\n")]),
        ("data:test\n\ndata: test\n\n", [event("test"), event("test")]),
        ("event: add\ndata: 73857293\n\ndata: x\n\n", [event("73857293", type: "add"), event("x")]),
        ("event: add\n\ndata: x\n\n", [event("x")]),
        ("data: a\r\n\r\ndata: b\r\rdata: c\n\r\n", [event("a"), event("b"), event("c")]),
        // CR LF is one end of a line: two would end the event.
        ("data: a\r\ndata: b\r\n\r\n", [event("a\nb")]),
        ("\u{FEFF}data: a\n\n", [event("a")]),
        ("data: a\n\n\u{FEFF}data: b\n\n", [event("a")]),
        ("id: a\0b\ndata: x\n\n", [event("x")]),
        ("id: 7\ndata: x\n\ndata: y\n\n", [event("x", id: "7"), event("y", id: "7")]),
        ("Data: a\n data: b\ndata : c\nfoo: d\n\n", []),
        ("data: a:b: c\n\n", [event("a:b: c")]),
        ("data: a", []),
        ("data: a\n", []),
        ("", []),
        ("\n\n\n", []),
    ]

    @Test("server-sent events mean what the standard says, however the bytes are cut", arguments: streams)
    func interprets(text: String, events: [ServerSentEvent]) throws {
        let bytes = Data(text.utf8)
        #expect(try meaning([bytes]).events == events)
        #expect(try meaning(bytes.map { Data([$0]) }).events == events)
        for cut in 0...bytes.count {
            #expect(try meaning([bytes.prefix(cut), bytes.dropFirst(cut)]).events == events)
        }
    }

    @Test(
        "the delay is digits and nothing else, and an hour at most",
        arguments: [
            ("1500", Duration.milliseconds(1500)), ("0", .zero), ("", nil), ("1.5", nil), ("-1", nil), ("1 ", nil),
            ("99999999999999999999999999", .seconds(3600)),
        ]
    )
    func delay(text: String, delay: Duration?) throws {
        #expect(try meaning([Data("retry:\(text)\n".utf8)]).delay == delay)
    }

    @Test("an identifier counts with its event's end, also where the event has no data")
    func identifiers() throws {
        #expect(try meaning([Data("id: 7\n".utf8)]).lastEventId == "")
        #expect(try meaning([Data("id: 7\n\n".utf8)]).lastEventId == "7")
        #expect(try meaning([Data("id: 7\n\nid\n\n".utf8)]).lastEventId == "")
    }

    @Test("bytes that are no UTF-8 are replaced")
    func replaced() throws {
        #expect(try meaning([Data("data: a".utf8) + [0xFF, 0xC3] + Data("\n\n".utf8)]).events.count == 1)
        #expect(try meaning([Data("data: ".utf8) + [0xFF, 0x0A, 0x0A]]).events == [Self.event("\u{FFFD}")])
    }

    @Test("a line that is too long is an error, also as a comment and before its end", arguments: ["data: ", ":"])
    func longLine(start: String) throws {
        let limit = 12
        let line = start + String(repeating: "x", count: limit - start.utf8.count)
        #expect(throws: Never.self) { try meaning([Data((line + "\n").utf8)], limit: limit) }
        for end in ["x", "x\n", "xxxxxxxx"] {
            #expect(throws: HttpBodyStream.ReadError.tooLarge(limit: limit)) {
                try meaning([Data((line + end + "x").utf8)], limit: limit)
            }
        }
    }

    @Test("an event of lines that are short enough, and too many, is an error")
    func manyLines() throws {
        // With the line feeds between them, twelve bytes: as many as may be.
        let largest = "data: 12345\ndata: 6\ndata\ndata: 789\n\n"
        #expect(try meaning([Data(largest.utf8)], limit: 12).events == [Self.event("12345\n6\n\n789")])
        for larger in ["data: 12345\ndata: 6\ndata\ndata: 7890\n", "data: 12345\ndata: 6\ndata\ndata\ndata: 789\n"] {
            #expect(throws: HttpBodyStream.ReadError.tooLarge(limit: 12)) {
                try meaning([Data(larger.utf8)], limit: 12)
            }
        }
        // Each event has its own total.
        #expect(try meaning([Data((largest + largest).utf8)], limit: 12).events.count == 2)
    }

    @Test("after a restart the event that was not whole is gone; identifier and delay are not")
    func restart() throws {
        var parser = EventParser(limit: 100)
        parser.append(Data("retry: 5\nid: 7\n\nevent: a\ndata: half\nid: 8\n".utf8))
        #expect(try parser.next() == nil)
        parser.restart()
        parser.append(Data("\u{FEFF}data: whole\n\n".utf8))
        #expect(try parser.next() == Self.event("whole", id: "7"))
        #expect(parser.reconnectionDelay == .milliseconds(5))
    }

    @Test("fuzz: any bytes, cut anywhere, mean the same", arguments: 0..<20 as Range<UInt64>)
    func fuzz(seed: UInt64) throws {
        let texts = ["data", ":", " ", "\n", "\r", "\r\n", "id", "event", "retry", "7", "\0", "\u{FEFF}", "ü", "x"]
        let words = texts.map { Data($0.utf8) } + [Data([0xFF]), Data([0xC3])]
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let count = Int.random(in: 0..<80, using: &generator)
            let bytes = (0..<count).reduce(into: Data()) { bytes, _ in
                bytes += words.randomElement(using: &generator) ?? Data()
            }
            var (rest, chunks) = (bytes, [Data]())
            while !rest.isEmpty {
                let cut = Int.random(in: 0...min(9, rest.count), using: &generator)
                chunks.append(rest.prefix(cut))
                rest = Data(rest.dropFirst(cut))
            }
            #expect(try meaning([bytes]) == meaning(chunks), "\(Array(bytes))")
        }
    }
}
