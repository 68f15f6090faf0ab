import Foundation
import Nautilus
import NautilusTesting
import Testing

@Suite("A header that is stamped after the request was built")
struct StampedHeaderTests {
    private struct Stamp: Retrier {
        func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
            httpRequest.header[.authorization] = "Bearer token-from-a-file\r\nX-Injected: 1"
        }

        func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { false }
    }

    private struct Factory: RetrierFactory {
        func create<R: Request>(for request: R) -> any Retrier { Stamp() }
    }

    private struct StampingInterceptor: HttpInterceptor {
        let stamp: @Sendable (inout HttpHeader, _ attempt: Int) -> Void

        func intercept(
            _ request: HttpRequest,
            context: AttemptContext,
            next: HttpInterceptor.Next
        ) async throws -> HttpResponse<Data> {
            var request = request
            stamp(&request.header, context.number)
            return try await next(request)
        }
    }

    @Test("does not take the service's own credentials along where an interceptor sends the request elsewhere")
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

    @Test("is checked again: a retrier's line break is not sent")
    func retrier() async throws {
        let transport = ScriptedTransport(.reply(text: "sent"))
        let outcome = try await outcome(of: Ping.get, retrier: Factory(), transport)
        #expect(outcome.error?.kind == .invalidRequest(.headerValue(name: .authorization)))
        #expect(outcome.error?.stage == .prepare)
        #expect(outcome.error?.delivery == .notSent)
        #expect(transport.count == 0)
    }

    @Test("is checked again: an interceptor's line break is not sent")
    func interceptor() async throws {
        let transport = ScriptedTransport(.reply(text: "sent"))
        let outcome = try await outcome(
            of: Ping.get,
            retrier: NilRetrier.factory(),
            interceptors: [StampingInterceptor { header, _ in header.add("a\nb", to: "X-Trace") }],
            transport
        )
        #expect(outcome.error?.kind == .invalidRequest(.headerValue(name: "X-Trace")))
        #expect(transport.count == 0)
    }

    @Test("is checked again when a value took another's place, in the second attempt, too")
    func replaced() async throws {
        let transport = ScriptedTransport(.status(503), .reply(text: "sent"))
        let outcome = try await outcome(
            of: Ping(header: ["X-Trace": "built"]),
            interceptors: [StampingInterceptor { $0["X-Trace"] = $1 == 1 ? "1" : "2\r\n" }],
            transport
        )
        #expect(outcome.error?.kind == .invalidRequest(.headerValue(name: "X-Trace")))
        #expect(outcome.trace.attempts.count == 2)
        #expect(transport.attempts.map { $0.header["X-Trace"] } == ["1"])
    }
}
