import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Subrequests and their attempt")
struct SubrequestDeliveryTests {
    private static let subrequest = HttpRequest(url: .literal("https://api.example.com/status"))

    /// A credential that cannot be fetched for what goes to `/status`.
    private static let failing = WrittenCredential { request in
        if request.url.path == "/status" { throw URLError(.timedOut) }
    }

    @Test("a GET subrequest that could not be authorized does not make an executed POST go out again")
    func unauthorized() async throws {
        let asking = ClosureInterceptor { request, context, next in
            let response = try await next(request)
            _ = try await context.send(Self.subrequest)
            return response
        }
        let transport = ScriptedTransport(.reply(text: "made"), afterLast: .repeat)
        let outcome = try await outcome(
            of: Ping.post,
            retrier: .composed(AnyRetrierFactory.authorizing(with: Self.failing), steadyBackoff()),
            interceptors: [asking],
            transport
        )
        #expect(transport.count(of: .post, "/things") == 1)
        #expect(outcome.error?.request?.method == .post)
        #expect(outcome.error?.isSafeToRepeat == false)
    }

    @Test("a POST subrequest that got lost does not keep the call's own GET, lost as well, from being tried again")
    func lost() async throws {
        let asking = ClosureInterceptor { request, context, next in
            _ = try? await context.send(HttpRequest(method: .post, url: Self.subrequest.url))
            return try await next(request)
        }
        let transport = ScriptedTransport(
            .fail(.networkConnectionLost),
            .fail(.networkConnectionLost),
            .reply(text: "ok")
        )
        let outcome = try await outcome(of: Ping.get, interceptors: [asking], transport)
        #expect(outcome.response?.body == "ok")
        #expect(transport.attempts.map(\.request.method) == [.post, .get, .get])
    }

    @Test(
        "a poll that is answered 401 is made again alone, or fails alone: the order that was accepted goes out once",
        arguments: [true, false]
    )
    func pollRejected(isSubrequest: Bool) async throws {
        let polling = ClosureInterceptor { request, context, next in
            let accepted = try await next(request)
            guard accepted.status == 202 else { return accepted }
            let poll = HttpRequest(url: .literal("https://api.example.com/jobs/1"))
            return isSubrequest ? try await context.send(poll) : try await next(poll)
        }
        let transport = ScriptedTransport { request, _ in
            if request.method == .post { return .status(202) }
            return request.header[.authorization] == "Bearer token-2" ? .reply(text: "made") : .status(401)
        }
        let coordinator = RefreshCoordinator(credential: Token(number: 1)) { _ in Token(number: 2) }
        let outcome = try await outcome(
            of: Ping.post,
            retrier: AuthorizationRetrier.factory(coordinator),
            interceptors: [polling],
            transport
        )
        #expect(transport.count(of: .post, "/things") == 1)
        #expect(outcome.response?.body == (isSubrequest ? nil : "made"))
        #expect(outcome.error?.kind == (isSubrequest ? .status(401) : nil))
    }

    @Test(
        "a 401 behind a redirect that left the origin refreshes nothing, also when an interceptor made another value of it"
    )
    func rebuiltRedirect() async throws {
        for rebuilds in [false, true] {
            let refreshes = Counter()
            let coordinator = RefreshCoordinator(credential: Token(number: 1)) { _ in
                refreshes.increment()
                return Token(number: 2)
            }
            let rebuilding = ClosureInterceptor { request, _, next in
                let response = try await next(request)
                return HttpResponse(
                    status: response.status,
                    header: response.header,
                    body: response.body,
                    url: response.url
                )
            }
            let transport = ScriptedTransport { request, _ in
                switch request.url.host {
                case "api.example.com" where request.url.path == "/things":
                    .status(307, header: ["Location": "https://other.example.com/a"])
                case "other.example.com": .status(307, header: ["Location": "https://api.example.com/b"])
                default: .status(401)
                }
            }
            _ = try await outcome(
                of: Ping.get,
                retrier: AuthorizationRetrier.factory(coordinator),
                interceptors: rebuilds ? [rebuilding] : [],
                transport
            )
            #expect(refreshes.value == 0, "rebuilds: \(rebuilds)")
        }
    }
}
