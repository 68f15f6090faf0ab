import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Network interceptors")
struct InterceptorTests {
    /// Writes its name into a header on the way in and on the way out.
    private struct Marking: NetworkInterceptor {
        let name: String
        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            var request = request
            request.header.add("\(name)\(context.number)", to: "X-Path")
            var response = try await next(request)
            response.header.add(name, to: "X-Path")
            return response
        }
    }

    private struct Closure: NetworkInterceptor {
        let handle: @Sendable (HttpRequest, Next) async throws -> HttpResponse<Data>
        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            try await handle(request, next)
        }
    }

    @Test("the first is the outermost, and all see every attempt")
    func order() async throws {
        let transport = ScriptedTransport(.status(503), .reply(text: "ok"))
        let outcome = try await outcome(
            of: Ping.get,
            interceptors: [Marking(name: "a"), Marking(name: "b")],
            transport
        )
        #expect(transport.attempts.map { $0.header.values(of: "X-Path") } == [["a1", "b1"], ["a2", "b2"]])
        #expect(outcome.response?.header.values(of: "X-Path") == ["b", "a"])
    }

    @Test("an interceptor that answers by itself needs neither a credential nor the network")
    func shortCircuit() async throws {
        let untouchable = WrittenCredential { _ in
            Issue.record("a credential was put on a request that was never sent")
        }
        let transport = ScriptedTransport()
        let cache = Closure { _, _ in HttpResponse(status: 200, body: Data("cached".utf8)) }
        let outcome = try await outcome(
            of: Ping.get,
            retrier: AnyRetrierFactory.authorizing(with: untouchable),
            interceptors: [cache],
            transport
        )
        #expect(outcome.response?.body == "cached")
        #expect(outcome.response?.url == nil)
        #expect(transport.count == 0)
    }

    @Test("a request that an interceptor sends again by itself is authorized again, within one attempt")
    func ownRetry() async throws {
        let count = Counter()
        let counted = WrittenCredential { $0.header["X-Count"] = "\(count.increment())" }
        let transport = ScriptedTransport(.status(503), .reply(text: "ok"))
        let twice = Closure { request, next in
            let first = try await next(request)
            return first.status == 503 ? try await next(request) : first
        }
        let outcome = try await outcome(
            of: Ping.get,
            retrier: AnyRetrierFactory.authorizing(with: counted),
            interceptors: [twice],
            transport
        )
        #expect(outcome.response?.body == "ok")
        #expect(outcome.attempts == 1)
        #expect(transport.attempts.map { $0.header["X-Count"] } == ["1", "2"])
    }

    @Test("an error that an interceptor throws fails the attempt, and the retrier is asked once")
    func throwing() async throws {
        struct Refused: Error {}
        let asked = Counter()
        let transport = ScriptedTransport()
        let outcome = try await outcome(
            of: Ping.get,
            retrier: ScriptedRetrier.factory { _, _ in
                asked.increment()
                return false
            },
            interceptors: [Closure { _, _ in throw Refused() }],
            transport
        )
        #expect(outcome.error?.kind == .custom)
        #expect(outcome.error?.stage == .intercept)
        #expect(outcome.error?.underlying is Refused)
        #expect(asked.value == 1)
    }

    @Test("an interceptor sees an exchange's failure as an HttpError, and may turn it into an answer")
    func recovering() async throws {
        let transport = ScriptedTransport(.fail(.notConnectedToInternet, delivery: .notSent))
        let offline = Closure { request, next in
            do {
                return try await next(request)
            } catch let error as HttpError where error.kind == .transport(.notConnectedToInternet) {
                return HttpResponse(status: 200, body: Data("stale".utf8))
            }
        }
        let outcome = try await outcome(of: Ping.get, interceptors: [offline], transport)
        #expect(outcome.response?.body == "stale")
    }
}
