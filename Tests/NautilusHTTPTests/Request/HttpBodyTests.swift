import Foundation
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("HttpBody")
struct HttpBodyTests {
    private struct Note: Encodable {
        let noteTitle: String
        let a: Int
    }

    private static func chunks(_ texts: String...) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            for text in texts { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
    }

    private static func collected(_ body: HttpBody, limit: Int = 100) async throws -> String? {
        try await body.payload { JsonCoders.standard.encoder() }.collected(limit: limit)?.text(in: .utf8)
    }

    @Test("each kind has its bytes and its media type")
    func kinds() async throws {
        #expect(HttpBody.empty.contentType == nil)
        #expect(try await Self.collected(.empty) == nil)

        #expect(HttpBody.data(Data()).contentType == "application/octet-stream")
        #expect(try await Self.collected(.data(Data("x".utf8), contentType: "text/plain")) == "x")

        #expect(HttpBody.json([1]).contentType == "application/json")
        #expect(try await Self.collected(.json(Note(noteTitle: "t", a: 1))) == #"{"a":1,"noteTitle":"t"}"#)

        #expect(HttpBody.form([:]).contentType == "application/x-www-form-urlencoded")
        #expect(
            try await Self.collected(.form(["a b": "c+d&e=f", "g": nil as Int?, "h": "ü"]))
                == "a%20b=c%2Bd%26e%3Df&h=%C3%BC"
        )
        #expect(try await Self.collected(.stream(Self.chunks("a", "", "b"))) == "ab")
    }

    @Test("zero bytes are a body, none is none")
    func empty() throws {
        #expect(HttpBody.Payload.empty.isEmpty)
        #expect(!HttpBody.Payload.data(Data()).isEmpty)
    }

    @Test("a one-shot stream is read once, and says so")
    func oneShot() async throws {
        let body = HttpBody.stream(Self.chunks("a"))
        let payload = try body.payload(JSONEncoder.init)
        #expect(payload.isReplayable)
        #expect(try await payload.collected(limit: 1) == Data("a".utf8))
        #expect(!payload.isReplayable)
        await #expect(throws: HttpBodyStream.ReadError.alreadyRead) { try await payload.collected(limit: 1) }
        // The body is the same one, however often it is asked for its payload.
        #expect(try !body.payload(JSONEncoder.init).isReplayable)
    }

    @Test("a stream with a factory is read as often as needed")
    func replayable() async throws {
        let payload = try HttpBody.stream { Self.chunks("a", "b") }.payload(JSONEncoder.init)
        for _ in 1...3 {
            #expect(payload.isReplayable)
            #expect(try await payload.collected(limit: 2) == Data("ab".utf8))
        }
    }

    @Test("a stream is collected up to its limit, and not a byte further")
    func limit() async throws {
        let stream = HttpBody.stream { Self.chunks("ab", "cd") }
        #expect(try await Self.collected(stream, limit: 4) == "abcd")
        await #expect(throws: HttpBodyStream.ReadError.tooLarge(limit: 3)) {
            try await Self.collected(stream, limit: 3)
        }
    }

    @Test("a stream's own error comes through")
    func failure() async throws {
        let stream = HttpBody.stream { AsyncThrowingStream { $0.finish(throwing: CancellationError()) } }
        await #expect(throws: CancellationError.self) { try await Self.collected(stream) }
    }
}
