import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("A form with files in it")
struct MultipartFormTests {
    /// Draws that make a boundary of nothing but zeros.
    private let zeros = FixedRandomSource(0)
    private static let boundary = "nautilus-" + String(repeating: "0", count: 24)

    private func payload(_ form: MultipartForm, random: (any RandomSource)? = nil) throws -> HttpBody.Payload {
        try HttpBody.multipart(form, random: random ?? zeros).payload { JSONEncoder() }
    }

    private func text(_ form: MultipartForm) async throws -> String {
        try #require(try await payload(form).collected(limit: .max)?.text(in: .utf8))
    }

    private func service(_ transport: ScriptedTransport, retries: Int = 0) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "a.com",
            retrierFactory: ScriptedRetrier.factory { asked, _ in asked < retries ? true : false },
            transport: transport
        )
    }

    @Test("the parts of a multipart form stand between boundaries, each with its header")
    func wire() async throws {
        let form: MultipartForm = [
            .text("Ferien – süß", named: "title"),
            .data(Data("PNG".utf8), named: "photo", fileName: "a.png", contentType: .png).with("X-Order", "1"),
        ]
        let lines = [
            "--\(Self.boundary)", "Content-Disposition: form-data; name=\"title\"", "", "Ferien – süß",
            "--\(Self.boundary)", "Content-Disposition: form-data; name=\"photo\"; filename=\"a.png\"",
            "Content-Type: image/png", "X-Order: 1", "", "PNG", "--\(Self.boundary)--", "",
        ]
        #expect(try await text(form) == lines.joined(separator: "\r\n"))
        #expect(
            HttpBody.multipart(form, random: zeros).contentType == "multipart/form-data; boundary=\(Self.boundary)"
        )
        #expect(try await text([]) == "--\(Self.boundary)--\r\n")
    }

    @Test(
        "F12d: a form's names are written as browsers write them, with line ends as CRLF in fields",
        arguments: [
            ("plain", "plain", "plain"), ("a\"b", "a%22b", "a%22b"), ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"),
            ("a\nX-Evil: 1", "a%0D%0AX-Evil: 1", "a%0AX-Evil: 1"), ("a\rb", "a%0D%0Ab", "a%0Db"),
            ("\n\r\r\n\n", "%0D%0A%0D%0A%0D%0A%0D%0A", "%0A%0D%0D%0A%0A"), ("50%", "50%", "50%"),
            ("a\\b;c=d", "a\\b;c=d", "a\\b;c=d"), ("süß.png", "süß.png", "süß.png"), ("", "", ""),
            ("\"\u{301}\n\u{301}", "%22\u{301}%0D%0A\u{301}", "%22\u{301}%0A\u{301}"),
        ]
    )
    func names(name: String, written: String, file: String) async throws {
        let text = try await text([.data(Data(), named: name, fileName: name)])
        #expect(text.contains("form-data; name=\"\(written)\"; filename=\"\(file)\"\r\nContent-Type"))
        #expect(try await self.text([.text("c", named: name)]).contains("form-data; name=\"\(written)\"\r\n\r\nc"))
    }

    @Test("a header that would not stay one is refused before anything is sent")
    func invalidHeader() async throws {
        let parts: [(MultipartForm.Part, HttpRequest.Invalid)] = [
            (.text("a", named: "a").with("X-A", "b\r\nc"), .headerValue(name: "X-A")),
            (.text("a", named: "a").with("X A", "b"), .headerName),
            (.data(Data(), named: "a", contentType: HttpMimeType("a\r\n", "b")), .headerValue(name: .contentType)),
        ]
        for (part, reason) in parts {
            let transport = ScriptedTransport()
            let call = Ping(method: .post, body: .multipart([part]))
            let error = await #expect(throws: HttpError.self) { try await call.schedule(with: service(transport)) }
            #expect(error?.kind == .invalidRequest(reason))
            #expect(transport.count == 0)
        }
    }

    @Test("the boundary is in no part: one that is, is drawn again, and a source that draws nothing else is refused")
    func boundary() async throws {
        let inside = Data("--\(Self.boundary)".utf8)
        #expect(throws: HttpRequest.Invalid.multipartBoundary) { try payload([.data(inside, named: "a")]) }

        let (first, others) = (Array(repeating: 0.0, count: 24), 1.0)
        let random = DrawnRandomSource(first, then: others)
        let body = HttpBody.multipart([.data(inside, named: "a")], random: random)
        #expect(body.contentType?.hasSuffix("boundary=nautilus-" + String(repeating: "z", count: 24)) == true)
    }

    @Test("two forms of the same parts have different boundaries")
    func random() {
        #expect(HttpBody.multipart([]).contentType != HttpBody.multipart([]).contentType)
    }

    @Test("a small form in memory is one piece; with a file, or large, it comes in chunks of the same length")
    func pieces() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("a.txt", Data(count: 100_000))
        let cases: [(MultipartForm, Bool)] = [
            ([.text("a", named: "a")], true),
            ([.data(Data(count: 8_380_000), named: "a")], true),
            ([.data(Data(count: 8_388_608), named: "a")], false),
            ([.text("a", named: "a"), .file(file, named: "b")], false),
        ]
        for (form, isOnePiece) in cases {
            let payload = try payload(form)
            switch payload {
            case .data: #expect(isOnePiece)
            case .stream(let stream):
                #expect(!isOnePiece)
                #expect(!stream.isOneShot)
                #expect(try await Int64(stream.collected(limit: .max).count) == stream.length)
            case .empty: Issue.record("no body")
            }
        }
        let text = try await text([.file(file, named: "b")])
        #expect(text.contains("name=\"b\"; filename=\"a.txt\"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n\0\0"))
    }

    @Test("a form has no length, or can be read only once, if that is so for one of its streams")
    func streams() async throws {
        let chunks: @Sendable () -> AsyncThrowingStream<Data, any Error> = {
            AsyncThrowingStream { source in
                source.yield(Data("ab".utf8))
                source.finish()
            }
        }
        let unknown = try payload([.stream(HttpBodyStream(from: chunks), named: "a")])
        guard case .stream(let stream) = unknown else {
            Issue.record("no stream")
            return
        }
        #expect(stream.length == nil && !stream.isOneShot)
        for _ in 0..<2 { #expect(try await stream.collected(limit: .max).text(in: .utf8).contains("\r\n\r\nab\r\n--")) }

        let body = HttpBody.multipart([.stream(HttpBodyStream(once: chunks(), length: 2), named: "a")])
        let transport = ScriptedTransport(.status(503), .reply(text: "ok"))
        let error = await #expect(throws: HttpError.self) {
            try await Ping(method: .post, body: body).schedule(with: service(transport, retries: 1))
        }
        #expect(error?.kind == .status(503))
        #expect(transport.count == 1)
    }

    @Test("a missing file is refused before anything is sent")
    func missingFile() async throws {
        let transport = ScriptedTransport()
        let form: MultipartForm = [.file(URL(fileURLWithPath: "/none/a.png"), named: "a")]
        let call = Ping(method: .post, body: .multipart(form))
        let error = await #expect(throws: HttpError.self) { try await call.schedule(with: service(transport)) }
        #expect(error?.kind == .invalidRequest(.file(.missing(name: "a.png"))))
        #expect(transport.count == 0)
    }

    /// A form of another boundary each time that it is asked for.
    private struct Upload: Request {
        typealias Result = String
        var file: URL?
        var route: HttpRoute { [] }
        var header: HttpHeader { ["Idempotency-Key": "1"] }
        var method: HttpMethod { .post }
        var body: HttpBody { .multipart(file.map { [.file($0, named: "a")] } ?? [.text("a", named: "a")]) }
    }

    @Test(
        "a form's second attempt under one key sends the same bytes, and names their boundary",
        arguments: [false, true]
    )
    func sameBytes(withFile: Bool) async throws {
        let folder = try TemporaryFolder()
        let file = withFile ? try folder.file("a", Data("a".utf8)) : nil
        let transport = ScriptedTransport(.status(503), .reply(text: "ok"))
        _ = try await Upload(file: file).schedule(with: service(transport, retries: 1))
        let (first, second) = (transport.attempts[0], transport.attempts[1])
        #expect(first.body == second.body)
        #expect(first.header[.contentType] == second.header[.contentType])
        let type = second.header[.contentType].flatMap { HttpMimeType($0) }
        let boundary = try #require(type?["boundary"])
        #expect(second.body?.starts(with: Data("--\(boundary)".utf8)) == true)
    }
}

/// Draws of which the last repeats.
private final class DrawnRandomSource: RandomSource {
    private let draws: Locked<[Double]>
    private let last: Double

    init(_ draws: [Double], then last: Double) {
        self.draws = Locked(draws)
        self.last = last
    }

    func nextFraction() -> Double { draws.withLock { $0.isEmpty ? last : $0.removeFirst() } }
}
