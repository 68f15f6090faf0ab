import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("Lines of a body")
struct LinesTests {
    private func stream(_ chunks: [Data]) -> HttpBodyStream {
        HttpBodyStream(from: {
            AsyncStream<Data> { source in
                for chunk in chunks { source.yield(chunk) }
                source.finish()
            }
        })
    }

    private func lines(_ chunks: [Data], limit: Int = 100) async throws -> [String] {
        var lines: [String] = []
        for try await line in stream(chunks).lines(limit: limit) { lines.append(line) }
        return lines
    }

    private static let texts: [(String, [String])] = [
        ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\r\nb\nc", ["a", "b", "c"]), ("\n\n", ["", ""]),
        ("a\rb\n", ["a\rb"]), ("a\r", ["a\r"]), ("ü\r\n€\n😀", ["ü", "€", "😀"]), ("\r\n", [""]),
    ]

    @Test("end with LF or CRLF, however the bytes are cut", arguments: texts)
    func splits(text: String, expected: [String]) async throws {
        let bytes = Data(text.utf8)
        #expect(try await lines([bytes]) == expected)
        #expect(try await lines(bytes.map { Data([$0]) }) == expected)
        for cut in 0...bytes.count {
            #expect(try await lines([bytes.prefix(cut), bytes.dropFirst(cut)]) == expected)
        }
    }

    @Test("the lines of a body may have no limit at all")
    func unlimited() async throws {
        #expect(try await lines([Data("a\nb".utf8)], limit: .max) == ["a", "b"])
    }

    @Test(
        "the lines of a body have a limit, which holds for a line that never ends, too",
        arguments: ["12345", "12345\n", "12345\r\n"]
    )
    func limit(text: String) async throws {
        let cuts = [[Data(text.utf8)], Data(text.utf8).map { Data([$0]) }]
        for chunks in cuts {
            #expect(try await lines(chunks, limit: 5) == ["12345"])
            await #expect(throws: HttpBodyStream.ReadError.tooLarge(limit: 4)) { try await lines(chunks, limit: 4) }
        }
        let taken = Counter()
        let endless = HttpBodyStream(from: {
            AsyncStream<Data>(unfolding: { taken.increment() > 100 ? nil : Data(count: 100) })
        })
        await #expect(throws: HttpBodyStream.ReadError.tooLarge(limit: 1000)) {
            for try await _ in endless.lines(limit: 1000) {}
        }
        #expect(taken.value == 11)
    }

    @Test("F12: lines are read as values; blank ones are none, and a wrong one ends them with an HttpError")
    func values() async throws {
        var iterator = stream([Data("1\n\n 2 \r\n \t\r\n".utf8), Data("3".utf8)]).values(of: Int.self)
            .makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        #expect(try await iterator.next() == 2)
        #expect(try await iterator.next() == 3)
        #expect(try await iterator.next() == nil)

        var wrong = stream([Data("1\nx\n2\n".utf8)]).values(of: Int.self).makeAsyncIterator()
        #expect(try await wrong.next() == 1)
        let failure = await #expect(throws: HttpError.self) { _ = try await wrong.next() }
        #expect(failure?.kind == .decoding)
        #expect(try await wrong.next() == nil)
    }

    private struct Export: Request {
        typealias Result = HttpBodyStream
        var route: HttpRoute { ["export"] }
    }

    private struct Row: Decodable {
        struct Item: Decodable { let id: Int }
        let items: [Item]
    }

    private func export(_ header: HttpHeader = [:], _ body: Data) async throws -> HttpBodyStream {
        let transport = ScriptedTransport(.chunks(header: header, body.map { Data([$0]) }))
        return try await Export().schedule(with: AnyHttpService(apiUrl: "a.com", transport: transport))
    }

    @Test("F12: a line that is no value is named by its number, the path in it, and the request, and not by its text")
    func unreadable() async throws {
        let body = Data("{\"items\": []}\r\n\n{\"items\": [{\"id\": 1}, {\"id\": \"secret\"}]}\n".utf8)
        var rows = try await export([:], body).values(of: Row.self).makeAsyncIterator()
        #expect(try await rows.next() != nil)
        let failure = await #expect(throws: HttpError.self) { _ = try await rows.next() }
        let why = "\(FailureKind.decoding); line 3: expected Int at items.1.id"
        #expect(failure?.description == "GET https://a.com/export failed: \(why)")
        #expect((failure?.stage, failure?.status, failure?.call.request) == (.decode, 200, "Export"))
        let line = try #require(failure?.underlying as? HttpBodyStream.UnreadableLine)
        #expect(line.line == 3 && line.underlying is DecodingError)
        #expect(try await rows.next() == nil)
    }

    @Test("F12: a line that is too long is named in the same way")
    func longLine() async throws {
        var rows = try await export([:], Data("1\n123456\n".utf8)).values(of: Int.self, limit: 5).makeAsyncIterator()
        #expect(try await rows.next() == 1)
        let failure = await #expect(throws: HttpError.self) { _ = try await rows.next() }
        #expect(failure?.request?.description == "GET https://a.com/export")
        #expect((failure?.underlying as? HttpBodyStream.UnreadableLine)?.description == "line 2: more than 5 bytes")
    }

    @Test(
        "F7: lines are decoded by the charset that is declared, and only then split",
        arguments: [
            ("text/plain; charset=iso-8859-1", [0xE9, 0x0A, 0x80, 0x0D, 0x0A, 0xFC], ["é", "€", "ü"]),
            ("text/csv; charset=\"UTF-16LE\"", [0x0A, 0x01, 0x0A, 0x00, 0x3D, 0xD8, 0x00, 0xDE], ["Ċ", "😀"]),
            ("text/plain;charset=utf-16be", [0x01, 0x0A, 0x00, 0x0A, 0x00, 0x61], ["Ċ", "a"]),
            ("text/plain; charset=latin1", [0xEF, 0xBB, 0xBF, 0xC3, 0xA9, 0x0A], ["é"]),
            ("text/plain; charset=x-unheard-of", [0xFF, 0xFE, 0x61, 0x00, 0x0A, 0x00], ["a"]),
            ("text/plain; charset=latin1", [0xEF], ["ï"]),
            ("text/plain; charset=utf-16", [0x61, 0x00, 0x62], ["a\u{FFFD}"]),
            ("text/plain", [0xC3, 0xA9, 0x0A, 0xE9], ["é", "\u{FFFD}"]),
            ("application/json; charset=latin1", [0xC3, 0xA9], ["é"]),
            ("text/event-stream; charset=latin1", [0xC3, 0xA9], ["é"]),
            ("application/x-ndjson; charset=latin1", [0xC3, 0xA9], ["é"]),
        ] as [(String, [UInt8], [String])]
    )
    func charsets(type: String, bytes: [UInt8], expected: [String]) async throws {
        var lines: [String] = []
        for try await line in try await export([.contentType: type], Data(bytes)).lines() { lines.append(line) }
        #expect(lines == expected)
    }

    @Test("F7: lines in a charset that is not known end with a failure that names it and the request")
    func unknownCharset() async throws {
        let header: HttpHeader = [.contentType: "text/plain; charset=x-unheard-of"]
        var lines = try await export(header, Data("a\n".utf8)).lines().makeAsyncIterator()
        let failure = await #expect(throws: HttpError.self) { _ = try await lines.next() }
        let why = "\(FailureKind.decoding); the text is in the charset 'x-unheard-of', which is not known"
        #expect(failure?.description == "GET https://a.com/export failed: \(why)")
        #expect(try await lines.next() == nil)
    }

    @Test("F7: values are JSON in UTF-8, whatever charset is declared")
    func valuesInUtf8() async throws {
        let body = Data("\u{FEFF}\"é\"\n".utf8)
        for type in ["application/x-ndjson; charset=latin1", "text/plain; charset=utf-16", "text/plain; charset=odd"] {
            var values = try await export([.contentType: type], body).values(of: String.self).makeAsyncIterator()
            #expect(try await values.next() == "é")
        }
    }

    @Test("an error of the body comes behind the lines before it")
    func broken() async throws {
        let error = TransportError.failed(.networkConnectionLost, delivery: .maybeExecuted, reason: "lost")
        let transport = ScriptedTransport(.chunks([Data("a\nb".utf8)], endingWith: error))
        let service = AnyHttpService(apiUrl: "a.com", transport: transport)
        var lines = try await Export().schedule(with: service).lines().makeAsyncIterator()
        #expect(try await lines.next() == "a")
        let failure = await #expect(throws: HttpError.self) { _ = try await lines.next() }
        #expect(failure?.kind == .transport(.networkConnectionLost))
        #expect(try await lines.next() == nil)
    }
}
