import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("HttpMethod")
struct HttpMethodTests {
    @Test("methods are idempotent as RFC 9110 §9.2.2 has it")
    func idempotent() {
        let all: [HttpMethod] = [
            .get, .head, .post, .put, .patch, .delete, .options, .query, "TRACE", "PROPFIND", "get", "query",
        ]
        #expect(all.filter(\.isIdempotent) == [.get, .head, .put, .delete, .options, .query, "TRACE"])
    }

    @Test("a method is what goes on the wire, its case included")
    func text() {
        #expect("\(HttpMethod.patch)" == "PATCH")
        #expect(HttpMethod(rawValue: "get") != .get)
        #expect(("PROPFIND" as HttpMethod).rawValue == "PROPFIND")
    }
}
