import Foundation
import Nautilus
import NautilusTesting
import Testing

@Suite("Retriers hear of a call's success")
struct RetrierSuccessTests {
    /// Notes what it is told; retries as often as it is told to.
    private struct Listening: Retrier {
        let name: String
        let log: Locked<[String]>
        var retries = 0

        mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
            defer { retries -= 1 }
            return retries > 0 ? true : false
        }

        mutating func succeeded(_ success: CallSuccess) {
            log.withLock { $0.append("\(name): \(success.answered?.request.path ?? "no request")") }
        }
    }

    /// Answers by itself what `isStale` says, and passes on the rest.
    private struct Cache: CallInterceptor {
        let isStale: @Sendable (Int?) -> Bool

        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            guard !isStale(nil) else { return HttpResponse(body: Data("stale".utf8)) }
            let response = try? await next(request)
            if let response, !isStale(response.status) { return response }
            return HttpResponse(body: Data("stale".utf8))
        }
    }

    private let log = Locked<[String]>([])

    private func entries(
        retries: Int = 0,
        interceptors: [any HttpInterceptor] = [],
        of request: Ping = .get,
        _ transport: ScriptedTransport
    ) async throws -> [String] {
        let log = log
        _ = try await outcome(
            of: request,
            retrier: ComposedRetrier.factory(
                AnyRetrierFactory { Listening(name: "first", log: log, retries: retries) },
                AnyRetrierFactory { Listening(name: "second", log: log) }
            ),
            interceptors: interceptors,
            transport
        )
        return log.withLock { $0 }
    }

    @Test("all of them, once, at the end, whatever the number of attempts")
    func success() async throws {
        let transport = ScriptedTransport(.status(503), .status(503), .reply(text: "ok"))
        #expect(try await entries(retries: 2, transport) == ["first: /things", "second: /things"])
    }

    @Test("not of a call that fails, be it after a good answer")
    func failure() async throws {
        #expect(try await entries(ScriptedTransport(.status(404))) == [])
        let log = log
        _ = try await outcome(
            of: Undecodable(),
            retrier: AnyRetrierFactory { Listening(name: "only", log: log) },
            ScriptedTransport(.status(200))
        )
        #expect(log.withLock { $0 } == [])
    }

    @Test("a status that the request accepts is a success")
    func acceptedStatus() async throws {
        let request = Ping(acceptedStatusCodes: [404])
        #expect(try await entries(of: request, ScriptedTransport(.status(404))).first == "first: /things")
    }

    @Test(
        "without a request when an interceptor has made the success: from nothing, of a failure, of a bad answer",
        arguments: [
            (ScriptedReply.reply(text: "ok"), { @Sendable (_: Int?) in true }, "no request"),
            (.fail(.networkConnectionLost), { @Sendable _ in false }, "no request"),
            (.status(503), { @Sendable status in status == 503 }, "no request"),
            (.status(304), { @Sendable status in status == 304 }, "/things"),
        ]
    )
    func cached(reply: ScriptedReply, isStale: @escaping @Sendable (Int?) -> Bool, request: String) async throws {
        let entries = try await entries(interceptors: [Cache(isStale: isStale)], ScriptedTransport(reply))
        #expect(entries == ["first: \(request)", "second: \(request)"])
    }

    @Test("not of a call that a hook has fulfilled")
    func fulfilled() async throws {
        struct Remembering: ServiceHook {
            func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
                ("remembered" as? R.Result).map { HttpResponse(body: $0) }
            }
        }
        let log = log
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: AnyRetrierFactory { Listening(name: "only", log: log) },
            transport: ScriptedTransport()
        ).with { $0.hook = Remembering() }
        #expect(try await Ping.get.schedule(with: service) == "remembered")
        #expect(log.withLock { $0 } == [])
    }

    @Test("what a cache answers fills no budget: it tells nothing of what the server bears")
    func cacheAndBudget() async throws {
        let budget = QuotaBudget(initial: 100)
        let retrier = steadyBackoff(budget: .shared(budget))
        let cache = Cache { _ in true }
        _ = try await outcome(of: Ping.get, retrier: retrier, interceptors: [cache], ScriptedTransport())
        #expect(budget.balance == 100)
        _ = try await outcome(of: Ping.get, retrier: retrier, ScriptedTransport(.reply(text: "ok")))
        #expect(budget.balance == 101)
    }
}
