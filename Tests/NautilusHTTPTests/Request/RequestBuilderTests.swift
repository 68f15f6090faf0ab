import Foundation
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("RequestBuilder")
struct RequestBuilderTests {
    private struct Sample: Request {
        typealias Result = Data
        var url: (any UrlConvertible)?
        var usesSecureProtocol: Bool?
        var method = HttpMethod.get
        var route: HttpRoute = ["notes"]
        var query: HttpQuery = [:]
        var header: HttpHeader = [:]
        var body = HttpBody.empty
        var timeout: Duration? = .seconds(60)
    }

    private static func build(
        _ request: Sample,
        for service: AnyHttpService<HttpError> = AnyHttpService(apiUrl: "api.example.com")
    ) async throws -> HttpRequest {
        var builder = RequestBuilder()
        let configuration = service.configuration
        let target = try CallTarget(of: request, for: configuration)
        return try builder.build(request, to: target, with: try await configuration.headers())
    }

    @Test(
        "a value that would split the header is refused, and its name alone is told",
        arguments: ["a\r\nb", "a\nb", "a\rb", "a\u{0}b", "\n", "a\r\n", "\r\n\u{301}"]
    )
    func headerValue(value: String) async {
        await #expect(throws: HttpRequest.Invalid.headerValue(name: "X-Name")) {
            try await Self.build(Sample(header: ["X-Name": value]))
        }
    }

    @Test(
        "a name that is no token is refused",
        arguments: ["", " ", "a b", "a:", "a\r\nb", "ü", "a\u{0}", "(a)", "a\t", "\"a\"", "a/b", "a@b", "a,b", "{a}"]
    )
    func headerName(name: String) async {
        await #expect(throws: HttpRequest.Invalid.headerName) {
            try await Self.build(Sample(header: HttpHeader([.init(name: .init(name), value: "x")])))
        }
    }

    @Test("every character of a token may stand in a name and in a method")
    func token() async throws {
        let token = "!#$%&'*+-.^_`|~09azAZ"
        let request = try await Self.build(
            Sample(method: .init(rawValue: token), header: HttpHeader([.init(name: .init(token), value: "ü\t x")]))
        )
        #expect(request.method.rawValue == token)
        #expect(request.header[.init(token)] == "ü\t x")
    }

    @Test("a method that is no token is refused", arguments: ["", "GET ", "GET /x HTTP/1.1\r\nX:", "GÊT"])
    func method(method: String) async {
        await #expect(throws: HttpRequest.Invalid.method) {
            try await Self.build(Sample(method: .init(rawValue: method)))
        }
    }

    @Test("GET, HEAD and TRACE refuse a body, others take one", arguments: ["GET", "HEAD", "TRACE"] as [HttpMethod])
    func body(method: HttpMethod) async throws {
        await #expect(throws: HttpRequest.Invalid.bodyNotAllowed(method)) {
            try await Self.build(Sample(method: method, body: .json([1])))
        }
        #expect(
            try await Self.build(Sample(method: .delete, body: .json([1]))).header[.contentType] == "application/json"
        )
    }

    @Test("a body that cannot be encoded is refused with its place")
    func encoding() async {
        await #expect(throws: HttpRequest.Invalid.bodyNotEncodable(at: "*.1")) {
            try await Self.build(Sample(method: .post, body: .json(["a": [1, Double.nan]])))
        }
    }

    @Test("the request's fields win over the asynchronous ones, those over the service's")
    func header() async throws {
        let service = AnyHttpService(apiUrl: "api.example.com").with {
            $0.header = ["A": "1", "B": "1", "C": "1"]
            $0.asyncHeader = { ["b": "2", "c": "2"] }
        }
        let request = try await Self.build(Sample(header: ["C": "3"]), for: service)
        #expect(request.header == ["A": "1", "b": "2", "C": "3"])
    }

    @Test("the body's media type gives way to the request's own")
    func contentType() async throws {
        let request = Sample(method: .post, header: ["content-type": "application/x-own"], body: .json([1]))
        #expect(try await Self.build(request).header.values(of: .contentType) == ["application/x-own"])
    }

    @Test(
        "the service's credentials stay at its origin",
        arguments: [
            ("https://api.example.com/other", true), ("other.example.com", false), ("http://api.example.com", false),
            ("api.example.com:444", false),
        ]
    )
    func credentials(url: String, areSent: Bool) async throws {
        let service = AnyHttpService(apiUrl: "api.example.com").with {
            $0.header = ["Authorization": "Bearer secret", "A": "1"]
        }
        let request = try await Self.build(Sample(url: url, header: ["X-Api-Key": "own"]), for: service)
        #expect((request.header[.authorization] != nil) == areSent)
        #expect(request.header["A"] == "1")
        #expect(request.header["X-Api-Key"] == "own")
    }

    @Test(
        "the request decides on the scheme before the service",
        arguments: [
            (nil, true, "https"), (nil, false, "http"), (true, false, "https"), (false, true, "http"),
        ] as [(Bool?, Bool, String)]
    )
    func scheme(own: Bool?, services: Bool, expected: String) async throws {
        let service = AnyHttpService(apiUrl: "api.example.com").with { $0.usesSecureProtocol = services }
        #expect(try await Self.build(Sample(usesSecureProtocol: own), for: service).url.scheme == expected)
        let elsewhere = Sample(url: "other.example.com", usesSecureProtocol: own)
        #expect(try await Self.build(elsewhere, for: service).url.scheme == expected)
    }
}
