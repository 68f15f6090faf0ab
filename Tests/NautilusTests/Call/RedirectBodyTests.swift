import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Bodies of redirected requests")
struct RedirectBodyTests {
    @Test("a one-shot body is not sent again by 307, and 303 does not need it")
    func oneShot() async throws {
        for (status, kind) in [(307, FailureKind.redirect(.bodySpent)), (303, nil)] as [(Int, FailureKind?)] {
            let body = HttpBody.stream(AsyncThrowingStream { $0.finish() })
            let (outcome, _) = try await RedirectTests.redirected(
                status,
                to: "/elsewhere",
                Ping(method: .post, body: body)
            )
            #expect(outcome.error?.kind == kind)
        }
    }

    @Test(
        "a request that keeps its body at its origin is not sent elsewhere with it, and follows what needs no body",
        arguments: [
            (307, "https://other.example.com/", .redirect(.bodyAcrossOrigins), 1),
            (308, "https://api.example.com:8443/", .redirect(.bodyAcrossOrigins), 1),
            (307, "/elsewhere", nil, 2), (303, "https://other.example.com/", nil, 2),
        ] as [(Int, String, FailureKind?, Int)]
    )
    func keepsBodyHome(_ status: Int, location: String, kind: FailureKind?, sendCount: Int) async throws {
        var request = Ping.post
        request.allowsBodyAcrossOrigins = false
        let (outcome, transport) = try await RedirectTests.redirected(status, to: location, request)
        #expect(outcome.error?.kind == kind)
        #expect(transport.count == sendCount)
        let bodiless = try await RedirectTests.redirected(307, to: location, Ping(allowsBodyAcrossOrigins: false))
        #expect(bodiless.0.response?.body == "there")
    }

    @Test("the body of a request goes along to another origin by default, also with a PUT that 301 redirects")
    func carriesBody() async throws {
        for request in [Ping.post, Ping(method: .put, body: .data(Data("payload".utf8)))] {
            let status = request.method == .put ? 301 : 307
            let (outcome, transport) = try await RedirectTests.redirected(
                status,
                to: "https://other.example.com/",
                request
            )
            #expect(outcome.response?.body == "there")
            #expect(transport.attempts[1].body == Data("payload".utf8))
        }
    }

    @Test("an interceptor keeps the bodies of a whole service at its origin, and the refusal is not retried")
    func serviceKeepsBodies() async throws {
        struct KeepingBodies: CallInterceptor {
            func intercept(
                _ request: HttpRequest,
                context: CallContext,
                next: Next
            ) async throws -> HttpResponse<Data> {
                var request = request
                request.allowsBodyAcrossOrigins = false
                return try await next(request)
            }
        }
        let transport = ScriptedTransport(.status(307, header: ["Location": "https://other.example.com/"]))
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [KeepingBodies()],
            retrierFactory: BackoffRetrier.factory(.atOnce),
            transport: transport
        )
        let error = await #expect(throws: HttpError.self) { try await Ping.keyedPost.schedule(with: service) }
        #expect(error?.kind == .redirect(.bodyAcrossOrigins))
        #expect(error?.delivery == .rejected)
        #expect(transport.count == 1)
    }
}
