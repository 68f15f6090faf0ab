import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("HttpResponse")
struct HttpResponseTests {
    @Test("a response's description has its status and its URL")
    func description() throws {
        #expect("\(HttpResponse(body: 1))" == "200")
        let url: URL = try .reading("https://api.example.com/a%20b")
        #expect("\(HttpResponse(status: 404, body: 1, url: url))" == "404 from https://api.example.com/a%20b")
        let full: URL = try .reading("https://me:secret@api.example.com:81/x?token=secret#f")
        #expect("\(HttpResponse(body: 1, url: full))" == "200 from https://api.example.com:81/x?…")
    }

    @Test("a response with another body keeps everything else")
    func replacingBody() throws {
        var response = HttpResponse(status: 201, header: ["A": "1"], body: 1, url: try .reading("https://a.example"))
        response.trace.duration = .seconds(1)
        let other = response.replacingBody("x")
        #expect(other.body == "x")
        #expect(other.status == 201)
        #expect(other.header == ["A": "1"])
        #expect(other.url == response.url)
        #expect(other.trace == response.trace)
    }

    @Test("asReceived drops the status that a request has set, and keeps all other changes")
    func asReceived() {
        var response = HttpResponse(header: ["A": "1"], body: "x")
        #expect(!response.isReclassified && response.asReceived.status == 200)
        response.count(as: 503, ["A": "1", "Retry-After": "2"], .maybeExecuted)
        #expect((response.status, response.isReclassified) == (503, true))
        #expect((response.asReceived.status, response.asReceived.isReclassified) == (200, false))
        #expect(response.asReceived.header == ["A": "1"])
        response.header["B"] = "2"
        #expect(response.asReceived.status == 200)
        #expect(response.asReceived.header == ["A": "1", "Retry-After": "2", "B": "2"])
    }
}
