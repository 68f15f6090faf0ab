import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Redaction")
struct RedactionTests {
    /// Stands wherever a secret may stand.
    private static let secret = "s3cr3t"

    private static func header() -> HttpHeader {
        [
            "Authorization": "Bearer \(secret)", "cookie": secret, "Set-Cookie": secret, "X-Api-Key": secret,
            "X-Auth-Token": secret, "Location": "https://me:\(secret)@a.example/cb?code=\(secret)#\(secret)",
            "Referer": "/cb?code=\(secret)", "Sec-WebSocket-Protocol": "auth.\(secret)", "Accept": "visible",
        ]
    }

    private static func request() throws -> HttpRequest {
        HttpRequest(
            method: .post,
            url: try .reading("https://me:\(secret)@api.example.com/notes?token=\(secret)#\(secret)"),
            header: header(),
            body: .data(Data(secret.utf8))
        )
    }

    private static func response() throws -> HttpResponse<Data> {
        HttpResponse(header: header(), body: Data(secret.utf8), url: try request().url)
    }

    private static func error() throws -> HttpError {
        let origin = try #require(HttpOrigin(.reading("https://api.example.com")))
        var error = HttpError(
            .status(401),
            stage: .validate,
            request: RequestSummary(try request(), serviceOrigin: origin),
            response: try response(),
            underlying: URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: "https://h?token=\(secret)"])
        )
        error.trace.request = error.request
        error.trace.attempts = [
            .init(
                number: 1,
                start: .zero,
                duration: .zero,
                outcome: .failed(.validate, .status(401), .rejected),
                decision: nil
            )
        ]
        return error
    }

    /// Every way in which a value becomes text.
    private static func texts(of value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        dump([value], to: &dumped)
        let inArray = "\([value])"
        return [dumped, inArray, "\(value)", String(describing: value), String(reflecting: value)]
    }

    private static func expectNoSecret(in value: some Any, butSome visible: String) {
        for text in texts(of: value) {
            #expect(!text.contains(secret), "\(type(of: value))")
            #expect(!text.contains("\(Array(secret.utf8)[0]), \(Array(secret.utf8)[1])"))
        }
        #expect(texts(of: value).contains { $0.contains(visible) })
    }

    @Test("headers, requests, responses, errors and traces never print a secret, however they are printed")
    func values() throws {
        Self.expectNoSecret(in: Self.header(), butSome: "visible")
        for field in Self.header().fields { Self.expectNoSecret(in: field, butSome: field.name.rawValue) }
        Self.expectNoSecret(in: try Self.request(), butSome: "POST https://api.example.com/notes?…")
        Self.expectNoSecret(in: try Self.response(), butSome: "200 from https://api.example.com/notes?…")
        Self.expectNoSecret(in: try Self.response().replacingBody(Self.secret), butSome: "200 from")
        Self.expectNoSecret(in: try Self.error(), butSome: "POST https://api.example.com/notes")
        Self.expectNoSecret(in: try Self.error().trace, butSome: "POST https://api.example.com/notes")
        #expect(try !Self.error().localizedDescription.contains(Self.secret))
        #expect(try !"\(Self.error() as NSError)".contains(Self.secret))
    }

    @Test("queries, forms and bodies print no value")
    func parts() throws {
        Self.expectNoSecret(
            in: ["password": Self.secret, "tags": [Self.secret]] as HttpQuery,
            butSome: "password=…&tags=…"
        )
        Self.expectNoSecret(in: HttpBody.json(Self.secret), butSome: "application/json")
        Self.expectNoSecret(in: HttpBody.form(["password": Self.secret]), butSome: "form")
        Self.expectNoSecret(in: HttpBody.Payload.data(Data(Self.secret.utf8)), butSome: "6 bytes")
        let chunks = AsyncThrowingStream<Data, any Error> { $0.yield(Data(Self.secret.utf8)) }
        Self.expectNoSecret(in: try HttpBody.stream(chunks).payload(JSONEncoder.init), butSome: "a one-shot stream")
        Self.expectNoSecret(in: HttpBodyStream(once: chunks), butSome: "a one-shot stream")
    }
}
