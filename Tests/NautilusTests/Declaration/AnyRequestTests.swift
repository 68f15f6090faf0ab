import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("AnyRequest")
struct AnyRequestTests {
    struct Note: Codable, Hashable, Sendable { var id: Int }
    /// A request that differs from the default in everything.
    struct Peculiar: Request {
        typealias Result = Int
        struct Refusal: Error {}

        let reads: Counter
        var url: (any UrlConvertible)? { "other.example.com/base" }
        var usesSecureProtocol: Bool? { false }
        var method: HttpMethod { .put }
        var route: HttpRoute { ["things", reads.increment()] }
        var query: HttpQuery { ["a": 1] }
        var header: HttpHeader { ["X-Own": "1"] }
        var body: HttpBody { .json(["b": 2, "a": 1]) }
        var encoder: JSONEncoder {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return encoder
        }
        var acceptedStatusCodes: HttpStatusCodes { [418] }
        var priority: HttpRequest.Priority { .high }
        var timeout: Duration? { .seconds(7) }
        var deadline: Duration? { .seconds(70) }
        func decode(_ data: Data) throws -> Int {
            guard let number = Int(String(decoding: data, as: UTF8.self)) else { throw Refusal() }
            return number
        }
    }

    @Test("an erased request is the request in everything that is sent and accepted, read again for every attempt")
    func erasing() async throws {
        let transport = ScriptedTransport(.status(503), .reply(status: 418, text: "7"))
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: ScriptedRetrier.factory { asked, _ in .init(booleanLiteral: asked == 0) },
            transport: transport
        )
        let request = AnyRequest(Peculiar(reads: Counter()))
        #expect(try await request.schedule(with: service) == 7)
        let attempts = transport.attempts
        #expect(
            attempts.map(\.request.url.absoluteString) == [
                "http://other.example.com/base/things/1?a=1", "http://other.example.com/base/things/2?a=1",
            ]
        )
        let sent = try #require(attempts.first?.request)
        #expect(sent.method == .put)
        #expect(sent.header["X-Own"] == "1")
        #expect(sent.priority == .high)
        #expect(attempts.first?.body.map { String(decoding: $0, as: UTF8.self) } == "{\n  \"a\" : 1,\n  \"b\" : 2\n}")
        #expect(attempts.first?.context.timeout == .seconds(7))
        #expect(request.deadline == .seconds(70))
    }

    @Test("an erased request fails as the request does, with the service's own error")
    func erasingFailure() async throws {
        let service = PageService(transport: ScriptedTransport(.reply(status: 418, text: "seven")))
        do throws(PageFailure) {
            _ = try await AnyRequest(Peculiar(reads: Counter())).schedule(with: service)
            Issue.record("it should not decode")
        } catch {
            #expect(error.error.kind == .decoding)
            #expect(error.error.underlying is Peculiar.Refusal)
        }
    }

    @Test("a request is written in one line, its result JSON, nothing, bytes or text")
    func inline() async throws {
        let transport = ScriptedTransport(
            .json(Note(id: 7)),
            .status(204),
            .reply(text: "\"raw\""),
            .reply(text: "\"raw\""),
            .reply(text: "{\"note_id\":9}"),
            .reply(text: "3")
        )
        let service = AnyHttpService(apiUrl: "api.example.com/v1", transport: transport)
        #expect(try await AnyRequest(.get, ["notes", 7], as: Note.self).schedule(with: service) == Note(id: 7))
        try await AnyRequest(.delete, ["notes", 7]).schedule(with: service)
        #expect(try await AnyRequest(.get, [], as: Data.self).schedule(with: service) == Data("\"raw\"".utf8))
        #expect(try await AnyRequest(.get, [], as: String.self).schedule(with: service) == "\"raw\"")

        struct Answer: Decodable, Sendable { let noteId: Int }
        let answer = try await AnyRequest(
            .post,
            ["notes"],
            query: ["draft": true],
            header: [.idempotencyKey: "k"],
            body: .json(Note(id: 9)),
            as: Answer.self,
            decoder: {
                let decoder = JSONDecoder()
                decoder.keyDecodingStrategy = .convertFromSnakeCase
                return decoder
            }
        ).with { $0.timeout = .seconds(5) }.schedule(with: service)
        #expect(answer.noteId == 9)
        let length = try await AnyRequest(.get, ["count"]) { $0.count }.schedule(with: service)
        #expect(length == 1)

        #expect(
            transport.attempts.map(\.request.description) == [
                "GET https://api.example.com/v1/notes/7", "DELETE https://api.example.com/v1/notes/7",
                "GET https://api.example.com/v1", "GET https://api.example.com/v1",
                "POST https://api.example.com/v1/notes?…", "GET https://api.example.com/v1/count",
            ]
        )
        #expect(transport.attempts[4].context.timeout == .seconds(5))
        #expect(transport.attempts[0].context.timeout == .seconds(60))
    }

    @Test("a body that is read while it comes is asked for in one line, too")
    func inlineStream() async throws {
        let transport = ScriptedTransport(.chunks([Data("ab".utf8), Data("c".utf8)]))
        let service = AnyHttpService(apiUrl: "api.example.com", transport: transport)
        let request = AnyRequest(
            .post,
            ["log"],
            body: .data(Data("q".utf8)),
            as: HttpBodyStream.self
        ).with { $0.timeout = .seconds(5) }
        var chunks: [String] = []
        for try await chunk in try await request.schedule(with: service) {
            chunks.append(String(decoding: chunk, as: UTF8.self))
        }
        #expect(chunks == ["ab", "c"])
        let attempt = try #require(transport.attempts.first)
        #expect(attempt.context.timeout == .seconds(5))
        #expect(attempt.body == Data("q".utf8))
    }

    @Test("bytes that are no text are an error, not a guess")
    func notText() async throws {
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            transport: ScriptedTransport(.reply(body: Data([0xFF])))
        )
        await #expect(throws: HttpError.self) {
            try await AnyRequest(.get, [], as: String.self).schedule(with: service)
        }
    }

    @Test("an erased request still streams, and keeps its rules about hedging and redirects")
    func streams() async throws {
        struct Export: Request {
            typealias Result = HttpBodyStream
            var route: HttpRoute { [] }
            var isAnonymous: Bool { true }
            var allowsHedging: Bool { false }
            var allowsBodyAcrossOrigins: Bool { false }
        }
        let erased = AnyRequest(Export())
        #expect(erased.streamsResponse)
        #expect(erased.isAnonymous)
        #expect(!erased.allowsHedging)
        #expect(!erased.allowsBodyAcrossOrigins)
        let transport = ScriptedTransport(.chunks([Data("a".utf8), Data("b".utf8)]))
        var chunks = try await erased.schedule(with: AnyHttpService(apiUrl: "a.com", transport: transport))
            .makeAsyncIterator()
        #expect(try await chunks.next() == Data("a".utf8))
    }

    @Test("an erased request is decoded by its status, where the request is")
    func byStatus() async throws {
        struct Existence: Request {
            typealias Result = Bool
            var route: HttpRoute { [] }
            var acceptedStatusCodes: HttpStatusCodes { [200, 404] }
            func decode(_ data: Data) throws -> Bool { data.isEmpty }
            func decode(_ response: HttpResponse<Data>) throws -> Bool { response.status == 200 }
        }
        let transport = ScriptedTransport(.status(404), .reply(text: "there"))
        let service = AnyHttpService(apiUrl: "api.example.com", transport: transport)
        #expect(try await AnyRequest(Existence()).schedule(with: service) == false)
        #expect(try await AnyRequest(Existence()).schedule(with: service))
    }
}
