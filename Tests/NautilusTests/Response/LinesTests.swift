import Foundation
import NautilusTesting
import Testing

@testable import Nautilus

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

    @Test("may have no limit at all")
    func unlimited() async throws {
        #expect(try await lines([Data("a\nb".utf8)], limit: .max) == ["a", "b"])
    }

    @Test("have a limit, which holds for a line that never ends, too", arguments: ["12345", "12345\n", "12345\r\n"])
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

    @Test("are values, where each is one; blank ones are none, and a wrong one ends them")
    func values() async throws {
        var iterator = stream([Data("1\n\n 2 \r\n \t\r\n".utf8), Data("3".utf8)]).values(of: Int.self)
            .makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        #expect(try await iterator.next() == 2)
        #expect(try await iterator.next() == 3)
        #expect(try await iterator.next() == nil)

        var wrong = stream([Data("1\nx\n2\n".utf8)]).values(of: Int.self).makeAsyncIterator()
        #expect(try await wrong.next() == 1)
        await #expect(throws: DecodingError.self) { _ = try await wrong.next() }
        #expect(try await wrong.next() == nil)
    }

    @Test("an error of the body comes behind the lines before it")
    func broken() async throws {
        let error = TransportError.failed(.networkConnectionLost, delivery: .maybeExecuted, reason: "lost")
        let transport = ScriptedTransport(.chunks([Data("a\nb".utf8)], endingWith: error))
        struct Export: Request { typealias Result = HttpBodyStream }
        let service = AnyHttpService(apiUrl: "a.com", transport: transport)
        var lines = try await Export().schedule(with: service).lines().makeAsyncIterator()
        #expect(try await lines.next() == "a")
        let failure = await #expect(throws: HttpError.self) { _ = try await lines.next() }
        #expect(failure?.kind == .transport(.networkConnectionLost))
        #expect(try await lines.next() == nil)
    }
}
