import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("The delivery of several failures")
struct DeliveryFloorTests {
    private struct Closure: NetworkInterceptor {
        let handle: @Sendable (HttpRequest, Next) async throws -> HttpResponse<Data>
        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            try await handle(request, next)
        }
    }

    @Test(
        "a POST that was answered with a redirect is not repeated, whatever becomes of the redirect",
        arguments: [
            ScriptedReply.fail(.cannotConnectToHost, delivery: .notSent), .status(429), .status(401),
            .status(503, header: ["Retry-After": "1"]),
        ],
        [302, 303]
    )
    func redirectedPost(_ reply: ScriptedReply, status: Int) async throws {
        let transport = ScriptedTransport(.status(status, header: ["Location": "/order/7"]), reply, afterLast: .repeat)
        let outcome = try await outcome(of: Ping.post, transport)
        #expect(outcome.error?.delivery == .maybeExecuted)
        #expect(outcome.error?.redirects?.becameGet == true)
        #expect(outcome.error?.rejectsCredential == false)
        #expect(transport.count == 2)
    }

    @Test("a 401 after a way through another origin does not speak of the credential, which was left behind")
    func thereAndBack() async throws {
        let transport = ScriptedTransport(
            .status(302, header: ["Location": "https://login.example.com/"]),
            .status(302, header: ["Location": "https://api.example.com/back"]),
            .status(401)
        )
        let outcome = try await outcome(of: Ping.get, transport)
        #expect(outcome.error?.status == 401)
        #expect(outcome.error?.redirects?.leftOrigin == true)
        #expect(outcome.error?.rejectsCredential == false)
    }

    @Test("a 401 after a redirect within the origin does")
    func withinTheOrigin() async throws {
        let transport = ScriptedTransport(.status(302, header: ["Location": "/things/"]), .status(401))
        let outcome = try await outcome(of: Ping.get, transport)
        #expect(outcome.error?.rejectsCredential == true)
    }

    @Test("an interceptor's second exchange that is refused does not undo the first, which was lost")
    func twoExchanges() async throws {
        let twice = Closure { request, next in
            do { return try await next(request) } catch { return try await next(request) }
        }
        let transport = ScriptedTransport(
            .fail(.networkConnectionLost),
            .fail(.cannotConnectToHost, delivery: .notSent),
            .reply(text: "never")
        )
        let outcome = try await outcome(of: Ping.post, interceptors: [twice], transport)
        #expect(outcome.error?.delivery == .maybeExecuted)
        #expect(transport.count == 2)
    }

    @Test(
        "a POST that was executed is not repeated for a GET that its interceptor makes after it, sent or not",
        arguments: [(HttpHeader.Name("X-Trace"), "a\nb", 1), ("X-Trace", "ab", 2)]
    )
    func secondRequest(name: HttpHeader.Name, value: String, sent: Int) async throws {
        let looking = Closure { request, next in
            let response = try await next(request)
            var second = request
            (second.method, second.body) = (.get, .empty)
            second.header[name] = value
            _ = try? await next(second)
            return response
        }
        let transport = ScriptedTransport(.status(500), .reply(text: "seen"), .reply(text: "never"))
        let outcome = try await outcome(of: Ping.post, interceptors: [looking], transport)
        #expect(outcome.error?.kind == .status(500))
        #expect(outcome.error?.request?.method == .post)
        #expect(outcome.trace.attempts.count == 1)
        #expect(transport.count == sent)
    }

    @Test("the error names a request as it was built, if its credential changes the request and then fails")
    func spoiled() async throws {
        let spoiling = WrittenCredential { request in
            request.method = .post
            request.url = URL(fileURLWithPath: "/nowhere")
            throw RefreshError.signedOut
        }
        let outcome = try await outcome(
            of: Ping.get,
            retrier: AnyRetrierFactory.authorizing(with: spoiling),
            ScriptedTransport(.reply(text: "never"))
        )
        #expect(outcome.error?.request?.description == "GET https://api.example.com/things")
        #expect(outcome.trace.request == outcome.error?.request)
    }

    @Test("another call's error inside an interceptor is the application's, and repeats no POST")
    func nestedCall() async throws {
        let audit = AnyHttpService(apiUrl: "audit.example.com", transport: ScriptedTransport(.status(503)))
        let auditing = Closure { request, next in
            let response = try await next(request)
            _ = try await Ping.get.schedule(with: audit)
            return response
        }
        let transport = ScriptedTransport(.reply(status: 201, text: "made"), .reply(text: "never"))
        let outcome = try await outcome(of: Ping.post, interceptors: [auditing], transport)
        #expect(outcome.error?.kind == .custom)
        #expect((outcome.error?.underlying as? HttpError)?.kind == .status(503))
        #expect(outcome.error?.request?.method == .post)
        #expect(outcome.error?.delivery == .maybeExecuted)
        #expect(transport.count == 1)
    }

    @Test(
        "a POST that waits in an interceptor when its time is over was not sent, unless it was before",
        arguments: [(false, Delivery.notSent), (true, .maybeExecuted)]
    )
    func timeOverInInterceptor(isSentBefore: Bool, delivery: Delivery) async throws {
        let outcome = try await simulate { simulation in
            let clock = simulation.clock
            let waiting = Closure { request, next in
                if isSentBefore { _ = try? await next(request) }
                try await clock.sleep(for: .seconds(60))
                return try await next(request)
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [waiting],
                transport: ScriptedTransport(.fail(.networkConnectionLost))
            )
            return await Ping(method: .post, deadline: .seconds(1)).result(with: service)
        }
        #expect(outcome.error?.kind == .deadline(.seconds(1)))
        #expect(outcome.error?.delivery == delivery)
    }

    @Test("the surfaced error tells the most that any attempt may have done")
    func worstOfAll() async throws {
        let transport = ScriptedTransport(.status(500), .fail(.cannotConnectToHost, delivery: .notSent))
        let outcome = try await outcome(of: Ping.keyedPost, retrier: steadyBackoff(maxAttempts: 2), transport)
        #expect(outcome.error?.kind == .transport(.cannotConnectToHost))
        #expect(outcome.error?.delivery == .maybeExecuted)
        #expect(outcome.trace.attempts[1].outcome == .failed(.send, .transport(.cannotConnectToHost), .notSent))
    }

    @Test("A3: a key that an interceptor draws is drawn once, and its body stays")
    func interceptorsKey() async throws {
        struct Changing: Request {
            typealias Result = String
            let reads = Counter()
            var route: HttpRoute { [] }
            var method: HttpMethod { .post }
            var body: HttpBody { .json(["read": reads.increment()]) }
        }
        let keying = ClosureInterceptor { request, _, next in
            var request = request
            request.header[.idempotencyKey] = UUID().uuidString
            return try await next(request)
        }
        let transport = ScriptedTransport(.status(500), .reply(text: "made"))
        let outcome = try await outcome(of: Changing(), interceptors: [keying], transport)
        #expect(outcome.response?.body == "made")
        #expect(transport.attempts[0].header[.idempotencyKey] == transport.attempts[1].header[.idempotencyKey])
        #expect(transport.attempts[0].body == transport.attempts[1].body)
    }

    @Test("a retrier's own error surfaces, and the trace keeps what really happened")
    func ownError() async throws {
        let own = HttpError(.authorization, stage: .retry)
        let transport = ScriptedTransport(.status(401))
        let outcome = try await outcome(
            of: Ping.get,
            retrier: ScriptedRetrier.factory { _, _ in .fail(with: own) },
            transport
        )
        #expect(outcome.error?.kind == .authorization)
        #expect(outcome.trace.attempts[0].outcome == .failed(.validate, .status(401), .rejected))
        #expect(outcome.trace.attempts[0].decision?.action == .fail)
    }

    @Test(
        "a timeout or a delay of for ever is one",
        arguments: [Duration.seconds(Int64.max), .seconds(Int64(1) << 50)]
    )
    func forEver(_ duration: Duration) async throws {
        let transport = ScriptedTransport(.reply(text: "ok"))
        let outcome = try await outcome(of: Ping(timeout: duration, deadline: duration), transport)
        #expect(outcome.response?.body == "ok")
        let service = AnyHttpService(apiUrl: "api.example.com", transport: ScriptedTransport(.reply(text: "ok")))
        #expect(try await Ping(timeout: duration, deadline: duration).schedule(with: service) == "ok")
    }
}
