import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("RequestSummary")
struct RequestSummaryTests {
    private static func summary(
        _ url: String,
        method: HttpMethod = .get,
        header: HttpHeader = [:]
    ) throws -> RequestSummary {
        let request = HttpRequest(method: method, url: try .reading(url), header: header)
        let service = try #require(HttpOrigin(.reading("https://api.example.com")))
        return try #require(RequestSummary(request, serviceOrigin: service))
    }

    @Test(
        "a request's summary names method and URL, on one line and without secrets",
        arguments: [
            ("https://api.example.com/notes?token=secret#secret", "GET https://api.example.com/notes"),
            ("https://me:secret@api.example.com/notes", "GET https://api.example.com/notes"),
            ("https://api.example.com/a%2Fb/%0A%0Dc/", "GET https://api.example.com/a%2Fb/%0A%0Dc/"),
            ("http://[::1]:8080/", "GET http://[::1]:8080/"),
            ("https://api.example.com", "GET https://api.example.com"),
        ]
    )
    func description(url: String, expected: String) throws {
        let summary = try Self.summary(url)
        #expect(summary.description == expected)
        var dumped = ""
        dump(summary, to: &dumped)
        #expect(!dumped.contains("secret"))
    }

    @Test("a request summary is idempotent by its method or by its key")
    func idempotent() throws {
        #expect(try Self.summary("https://a.example", method: .put).isIdempotent)
        #expect(try !Self.summary("https://a.example", method: .post).isIdempotent)
        let keyed = try Self.summary("https://a.example", method: .post, header: ["idempotency-key": "k"])
        #expect(keyed.hasIdempotencyKey)
        #expect(keyed.isIdempotent)
    }

    @Test("a request summary knows the service's own origin")
    func origin() throws {
        #expect(try Self.summary("https://API.example.com:443/x").isToServiceOrigin)
        #expect(try !Self.summary("http://api.example.com/x").isToServiceOrigin)
        #expect(try !Self.summary("https://api.example.com.evil.example/x").isToServiceOrigin)
    }
}
