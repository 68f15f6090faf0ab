import Foundation
import NautilusCaching
import NautilusPages
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("A path component that is a secret", .endsInTime)
struct SensitiveRouteTests {
    private static let secret = "s3cr3t/tok en"
    private static let encoded = "s3cr3t%2Ftok%20en"

    private struct Reset: Request {
        typealias Result = String
        var method: HttpMethod { .put }
        var route: HttpRoute { ["reset", .sensitive(SensitiveRouteTests.secret), 7] }
    }

    /// Every way in which a value becomes text.
    private static func texts(of value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [dumped, "\(value)", "\([value])", String(reflecting: value)]
    }

    private static func isHidden(in value: some Any) -> Bool {
        texts(of: value).allSatisfy { !$0.contains("s3cr3t") }
    }

    @Test("F31a: a secret component is sent like any other, and a route does not print it")
    func route() throws {
        let route: HttpRoute = ["reset", .sensitive(Self.secret), 7, .sensitive(42)]
        #expect(try route.encoded() == "/reset/\(Self.encoded)/7/42")
        #expect(route.description == "/reset/‹redacted›/7/‹redacted›")
        #expect(Self.isHidden(in: route))
        #expect(Self.isHidden(in: HttpRoute.SensitiveComponent.sensitive(Self.secret)))
        let slashed = HttpRoute(["a", .sensitive("b")], trailingSlash: true)
        #expect(try slashed.encoded() == "/a/b/" && slashed.description == "/a/‹redacted›/")
        #expect(throws: HttpRequest.Invalid.emptyRouteComponent(index: 0)) { try HttpRoute([.sensitive("")]).encoded() }
        #expect(HttpRoute(["a"] as [String]) == ["a"])
    }

    @Test("F31a: errors, traces, responses and observers never print a secret component of the path")
    func calls() async throws {
        let lines = Locked<[String]>([])
        let seen = Locked<[HttpRequest]>([])
        let transport = ScriptedTransport { request, _ in
            seen.withLock { $0.append(request) }
            let header: HttpHeader = ["Location": "/v2/reset/s3cr3t%2ftok en/7", "X-Next": "a/\(Self.encoded)"]
            return request.url.path.hasPrefix("/reset")
                ? .status(307, header: header) : .reply(status: 409, header: header, text: "taken")
        }
        let service = AnyHttpService(apiUrl: "api.example.com", transport: transport, clock: ManualClock()).with {
            $0.observer = PrintingObserver { line in lines.withLock { $0.append(line) } }
        }
        let error = await #expect(throws: HttpError.self) { try await Reset().schedule(with: service) }
        let response = try #require(error?.response)
        #expect(error?.kind == .status(409))
        #expect(
            seen.withLock { $0.map(\.url.absoluteString) } == [
                "https://api.example.com/reset/\(Self.encoded)/7",
                "https://api.example.com/v2/reset/s3cr3t%2ftok%20en/7",
            ]
        )
        #expect(error?.request?.path == "/reset/‹redacted›/7")
        #expect(response.description == "409 from https://api.example.com/v2/reset/‹redacted›/7")
        #expect(try Self.isHidden(in: #require(error)))
        #expect(Self.isHidden(in: response))
        #expect(try Self.isHidden(in: #require(error?.trace)))
        for request in seen.withLock({ $0 }) { #expect(Self.isHidden(in: request)) }
        for attempt in transport.attempts { #expect(Self.isHidden(in: attempt)) }
        #expect(lines.withLock { $0 }.allSatisfy { !$0.contains("s3cr3t") } && !lines.withLock { $0 }.isEmpty)
    }

    @Test("F31a: a response with its trace, and a request that cannot be built, print no secret component of the path")
    func successes() async throws {
        let service = AnyHttpService(apiUrl: "api.example.com", transport: ScriptedTransport(.reply(text: "done")))
        let response = try await Reset().response(with: service)
        #expect(response.description == "200 from https://api.example.com/reset/‹redacted›/7")
        #expect(Self.isHidden(in: response) && Self.isHidden(in: response.trace))
        #expect(response.url?.absoluteString == "https://api.example.com/reset/\(Self.encoded)/7")
        let refused = AnyHttpService(apiUrl: "a b")
        let error = await #expect(throws: HttpError.self) { try await Reset().schedule(with: refused) }
        #expect(try Self.isHidden(in: #require(error)))
        let untrusted = ScriptedTransport(.fail(.serverCertificateUntrusted))
        let failing = AnyHttpService(apiUrl: "a.example", transport: untrusted)
        let lost = await #expect(throws: HttpError.self) { try await Reset().schedule(with: failing) }
        #expect(try Self.isHidden(in: #require(lost)))
        #expect(Reset().route == ["reset", .sensitive(Self.secret), 7])
    }

    @Test(
        "F31a: a secret with a slash is hidden when a server repeats it decoded, or encoded twice",
        arguments: ["s3cr3t/tok en", "s3cr3t/tok%20en/more", "s3cr3t%252Ftok%2520en", "%FFs3cr3t%2Ftok%20en"]
    )
    func repeated(path: String) async throws {
        let lines = Locked<[String]>([])
        let transport = ScriptedTransport { request, _ in
            let header: HttpHeader = ["Location": "/moved/\(path)"]
            return request.url.path.hasPrefix("/reset") ? .status(307, header: header) : .status(409, header: header)
        }
        let service = AnyHttpService(apiUrl: "api.example.com", transport: transport).with {
            $0.observer = PrintingObserver { line in lines.withLock { $0.append(line) } }
        }
        let error = await #expect(throws: HttpError.self) { try await Reset().schedule(with: service) }
        #expect(try Self.isHidden(in: #require(error)))
        #expect(try Self.isHidden(in: #require(error?.response)))
        #expect(try Self.isHidden(in: #require(transport.attempts.last?.request)))
        #expect(lines.withLock { $0 }.allSatisfy { !$0.contains("s3cr3t") } && !lines.withLock { $0 }.isEmpty)
    }

    /// Answers by itself, with the URL of the request.
    private struct Answering: NetworkInterceptor {
        let status: Int

        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) -> HttpResponse<Data> {
            HttpResponse(status: status, body: Data(), url: request.url)
        }
    }

    /// Sends a request of its own to the same URL.
    private struct Remaking: NetworkInterceptor {
        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            try await next(HttpRequest(method: request.method, url: request.url))
        }
    }

    @Test("F31a: what an interceptor answers or sends by itself, and what a cache has kept, print no secret component")
    func interceptors() async throws {
        struct Look: Request {
            typealias Result = String
            var route: HttpRoute { ["reset", .sensitive(SensitiveRouteTests.secret)] }
        }
        let header: HttpHeader = ["Cache-Control": "max-age=9", "Content-Location": "/reset/s3cr3t%2Ftok%20en"]
        for status in [200, 404] {
            for interceptor in [Answering(status: status), Remaking(), HttpCache()] as [any HttpInterceptor] {
                let transport = ScriptedTransport { _, _ in .status(status, header: header) }
                let service = AnyHttpService(apiUrl: "a.example", interceptors: [interceptor], transport: transport)
                for _ in 1...2 {
                    do {
                        #expect(Self.isHidden(in: try await Look().response(with: service)))
                    } catch {
                        #expect(try Self.isHidden(in: error) && Self.isHidden(in: #require(error.response)))
                    }
                }
                for attempt in transport.attempts { #expect(Self.isHidden(in: attempt)) }
            }
        }
    }

    @Test("F31a: a curl command shows a secret component of the path on demand alone")
    func curl() async throws {
        let service = AnyHttpService(apiUrl: "api.example.com", transport: ScriptedTransport())
        #expect(try await Reset().curlCommand(with: service).hasSuffix(" 'https://api.example.com/reset/‹redacted›/7'"))
        #expect(
            try await Reset().curlCommand(with: service, showsSecrets: true)
                .hasSuffix(" 'https://api.example.com/reset/\(Self.encoded)/7'")
        )
    }

    @Test("F31a: the next page's URL, which the server has named, hides the secret component as well")
    func pages() async throws {
        struct List: JsonRequest, PaginatedRequest {
            typealias Result = [Int]
            var route: HttpRoute { ["hooks", .sensitive(SensitiveRouteTests.secret)] }
            var pagination: Pagination<Self> { .link() }
        }
        let transport = ScriptedTransport(
            .reply(header: ["Link": "</hooks/\(Self.encoded)/2>; rel=\"next\""], text: "[1]"),
            .status(404)
        )
        let service = AnyHttpService(apiUrl: "api.example.com", transport: transport)
        let error = await #expect(throws: HttpError.self) {
            for try await _ in List().items(with: service) {}
        }
        #expect(error?.request?.path == "/hooks/‹redacted›/2")
        #expect(try Self.isHidden(in: #require(error)))
    }
}
