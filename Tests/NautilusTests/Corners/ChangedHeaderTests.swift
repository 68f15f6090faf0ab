import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("A header that is changed after the request was built")
struct ChangedHeaderTests {
    private struct ChangingInterceptor: NetworkInterceptor {
        let change: @Sendable (inout HttpHeader, _ attempt: Int) -> Void

        func intercept(
            _ request: HttpRequest,
            context: AttemptContext,
            next: Next
        ) async throws -> HttpResponse<Data> {
            var request = request
            change(&request.header, context.number)
            return try await next(request)
        }
    }

    @Test("a request that an interceptor sends elsewhere leaves the service's credentials behind")
    func elsewhere() async throws {
        let transport = ScriptedTransport(.reply(text: "a"), .reply(text: "b"), .reply(text: "c"))
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [
                ClosureInterceptor { request, context, next in
                    var other = request
                    other.url = try #require(URL(string: "https://mirror.example.com/things"))
                    other.header["X-Mirror-Key"] = "mirror"
                    _ = try await context.send(other)
                    _ = try await next(other)
                    return try await next(request)
                }
            ],
            transport: transport
        ).with { $0.header = ["X-Api-Key": "service", "Cookie": "session=1", "X-Client": "app"] }
        _ = try await Ping(header: ["X-Account-Token": "request"]).schedule(with: service)
        for attempt in transport.attempts.prefix(2) {
            #expect(attempt.request.url.host == "mirror.example.com")
            #expect(attempt.header["X-Api-Key"] == nil)
            #expect(attempt.header["Cookie"] == nil)
            #expect(attempt.header["X-Account-Token"] == nil)
            #expect(attempt.header["X-Mirror-Key"] == "mirror")
            #expect(attempt.header["X-Client"] == "app")
        }
        #expect(transport.attempts.last?.header["X-Api-Key"] == "service")
    }

    @Test("a line break that a credential writes into a header field is not sent")
    func credential() async throws {
        let transport = ScriptedTransport(.reply(text: "sent"))
        let credential = WrittenCredential {
            $0.header[.authorization] = "Bearer token-from-a-file\r\nX-Injected: 1"
        }
        let outcome = try await outcome(
            of: Ping.get,
            retrier: AnyRetrierFactory.authorizing(with: credential),
            transport
        )
        #expect(outcome.error?.kind == .invalidRequest(.headerValue(name: .authorization)))
        #expect(outcome.error?.stage == .prepare)
        #expect(outcome.error?.delivery == .notSent)
        #expect(transport.count == 0)
    }

    @Test("a changed header is checked again: an interceptor's line break is not sent")
    func interceptor() async throws {
        let transport = ScriptedTransport(.reply(text: "sent"))
        let outcome = try await outcome(
            of: Ping.get,
            retrier: .never,
            interceptors: [ChangingInterceptor { header, _ in header.add("a\nb", to: "X-Trace") }],
            transport
        )
        #expect(outcome.error?.kind == .invalidRequest(.headerValue(name: "X-Trace")))
        #expect(transport.count == 0)
    }

    @Test("a changed header is checked again when a value took another's place, in the second attempt, too")
    func replaced() async throws {
        let transport = ScriptedTransport(.status(503), .reply(text: "sent"))
        let outcome = try await outcome(
            of: Ping(header: ["X-Trace": "built"]),
            interceptors: [ChangingInterceptor { $0["X-Trace"] = $1 == 1 ? "1" : "2\r\n" }],
            transport
        )
        #expect(outcome.error?.kind == .invalidRequest(.headerValue(name: "X-Trace")))
        #expect(outcome.trace.attempts.count == 2)
        #expect(transport.attempts.map { $0.header["X-Trace"] } == ["1"])
    }
}
