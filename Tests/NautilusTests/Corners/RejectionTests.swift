import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP
@testable import NautilusTraffic

/// 12.22: a 200 whose body says that it is a 429, beside a 429 that says so.
@Suite("A failure in the body of a 200", .endsInTime)
struct RejectionTests {
    /// How the server tells of a failure.
    enum Form: CaseIterable, Sendable {
        case status, body
    }

    /// The server's answer, in either form.
    private enum Answer: Sendable {
        case success(HttpHeader = [:], after: Duration = .zero)
        case failure(Int, HttpHeader = [:], after: Duration = .zero)

        func reply(in form: Form) -> ScriptedReply {
            switch self {
            case .success(let header, let delay):
                .delay(delay, then: .reply(header: header, text: "ok"))
            case .failure(let status, let header, let delay):
                .delay(delay, then: .reply(status: form == .status ? status : 200, header: header, text: "\(status)"))
            }
        }
    }

    /// Takes a number in the body for the status that the answer should have had.
    private struct Query: Request {
        typealias Result = String
        var method: HttpMethod = .get
        var read = Counter()
        var route: HttpRoute { ["things"] }

        func status(of response: HttpResponse<Data>) -> AnswerStatus {
            AnswerStatus(Int(String(decoding: response.body, as: UTF8.self)) ?? response.status)
        }

        func decode(_ data: Data) throws -> String {
            read.increment()
            return String(decoding: data, as: UTF8.self)
        }
    }

    /// The parts of a story's service.
    private struct Parts: Sendable {
        var interceptors: [any HttpInterceptor] = []
        var retrier: any RetrierFactory = .never
        var hedging: Hedging?
        var observer: any CallObserver = .none
    }

    /// Calls one after the other, against a server that gives these answers: how each has ended, when each request was
    /// sent, and what `rest` says in the end. The last answer is given again and again.
    private func story(
        _ form: Form,
        _ answers: [Answer],
        _ query: Query = Query(),
        calls: Int = 1,
        apart pause: Duration = .zero,
        atOnce: Bool = false,
        _ parts: @escaping @Sendable (ManualClock) -> Parts,
        rest: @escaping @Sendable () -> [String] = { [] }
    ) async throws -> [String] {
        try await simulate { simulation in
            let count = Counter()
            let transport = ScriptedTransport(clock: simulation.clock) { _, _ in
                answers[min(count.increment(), answers.count) - 1].reply(in: form)
            }
            let parts = parts(simulation.clock)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: parts.interceptors,
                retrierFactory: parts.retrier,
                transport: transport,
                clock: simulation.clock
            ).with {
                if let hedging = parts.hedging { $0.interceptors.append(hedging) }
                $0.observer = parts.observer
            }
            var ends: [String] = []
            if atOnce {
                ends = await withTaskGroup(of: String.self) { group in
                    for _ in 0..<calls { group.addTask { await Self.end(of: query, service) } }
                    return await group.reduce(into: []) { $0.append($1) }
                }
            } else {
                for _ in 0..<calls {
                    ends.append(await Self.end(of: query, service))
                    try await simulation.clock.sleep(for: pause)
                }
            }
            await simulation.clock.run()
            return ends + transport.attempts.map { "sent at \($0.start.brief)" } + rest()
        }
    }

    private static func end(of query: Query, _ service: AnyHttpService<HttpError>) async -> String {
        func told(_ trace: CallTrace) -> String {
            let attempts = trace.attempts.map { attempt in
                let exchanges = attempt.exchanges.map { "\($0.outcome) \($0.delivery)" }
                return
                    "\(exchanges) \(attempt.decision.map { "\($0.action) \($0.reason.map(\.description) ?? "")" } ?? "")"
            }
            return "\(attempts)"
        }
        do throws(HttpError) {
            let response = try await query.response(with: service)
            return "\(response.status) \(response.body), \(told(response.trace))"
        } catch {
            let wait = error.retryAfter?.brief ?? "-"
            let exchange = error.exchange.map { "\($0.outcome)" } ?? "-"
            return "\(error.kind), \(error.delivery), \(wait), \(exchange), \(told(error.trace))"
        }
    }

    @Test("C22: a breaker opens by failures in the body of a 200", arguments: Form.allCases)
    func breaker(form: Form) async throws {
        let story = try await story(form, [.failure(503)], calls: 4) { clock in
            Parts(interceptors: [CircuitBreaker(limits: CircuitLimits(minimumThroughput: 2), clock: clock)])
        }
        #expect(story.prefix(2).allSatisfy { $0.hasPrefix("status 503, maybeExecuted") })
        #expect(story.dropFirst(2).prefix(2).allSatisfy { $0.contains("the circuit is open") })
        #expect(story.suffix(2) == ["sent at 0 ms", "sent at 0 ms"])
        #expect(story.count == 6)
    }

    @Test("C22: pacing honours its Retry-After for the next call", arguments: Form.allCases)
    func pacing(form: Form) async throws {
        let story = try await story(form, [.failure(429, ["Retry-After": "5"]), .success()], calls: 2) { clock in
            Parts(interceptors: [Pacing(clock: clock, random: FixedRandomSource(0))])
        }
        #expect(story.first?.hasPrefix("status 429, rejected, 5 s") == true)
        #expect(story.suffix(2) == ["sent at 0 ms", "sent at 5 s"])
    }

    @Test("C22: a slot of a concurrency limit is free after it, and a burst takes as long", arguments: Form.allCases)
    func concurrencyLimit(form: Form) async throws {
        let limit = ConcurrencyLimit(1)
        let answers: [Answer] = [.failure(429, after: .seconds(1)), .success(after: .seconds(1))]
        let story = try await story(form, answers, calls: 3, atOnce: true) { _ in Parts(interceptors: [limit]) }
        #expect(story.suffix(3) == ["sent at 0 ms", "sent at 1 s", "sent at 2 s"])
        #expect(story.count { $0.hasPrefix("200 ok") } == 2)
    }

    @Test("C22: a hedged call waits for its other send after a rejection", arguments: Form.allCases)
    func hedging(form: Form) async throws {
        let answers: [Answer] = [.failure(503, after: .milliseconds(200)), .success(after: .milliseconds(500))]
        let story = try await story(form, answers) { _ in
            Parts(hedging: Hedging(after: .fixed(.milliseconds(100)), latencies: OriginLatencies(), budget: .unlimited))
        }
        #expect(story.first?.hasPrefix("200 ok") == true)
        #expect(story.suffix(2) == ["sent at 0 ms", "sent at 100 ms"])
    }

    @Test(
        "C22: a cache has what is stored stand in for it, and does not keep it as a success",
        arguments: Form.allCases
    )
    func cache(form: Form) async throws {
        let stale: Answer = .success(["Cache-Control": "max-age=1, stale-if-error=60"])
        let failure: Answer = .failure(503, ["Cache-Control": "max-age=60"])
        let story = try await story(form, [stale, failure], calls: 3, apart: .seconds(2)) { clock in
            let cache = HttpCache(wallClock: {
                Date(timeIntervalSince1970: TimeInterval(clock.now.offset.components.seconds))
            })
            return Parts(interceptors: [cache])
        }
        #expect(story.prefix(3).allSatisfy { $0.hasPrefix("200 ok") })
        #expect(story.suffix(3) == ["sent at 0 ms", "sent at 2 s", "sent at 4 s"])
    }

    @Test(
        "C22: retries after a failure in a 200's body wait, cost and pass the gate like others",
        arguments: Form.allCases
    )
    func backoff(form: Form) async throws {
        let budget = TokenBucketBudget(capacity: 10, depositOfSuccess: 0)
        let answers: [Answer] = [.failure(503), .failure(429, ["Retry-After": "7"]), .success()]
        let story = try await story(form, answers) { _ in
            Parts(retrier: steadyBackoff(budget: .shared(budget)))
        } rest: {
            ["\(budget.balance)"]
        }
        #expect(story.first?.hasPrefix("200 ok") == true)
        let real = try await self.story(.status, answers) { _ in Parts(retrier: steadyBackoff()) }
        #expect(story.dropLast() == real[...])
        // A 429 that says when to come back costs nothing.
        #expect(story.suffix(3) == ["sent at 500 ms", "sent at 7.500 s", "9.0"])
    }

    @Test("C22: a failure that callers share costs the budget one retry", arguments: Form.allCases)
    func shared(form: Form) async throws {
        let budget = RetryAllowance(10)
        let answers: [Answer] = [.failure(503, after: .seconds(1)), .success(after: .seconds(1))]
        let story = try await story(form, answers, calls: 20, atOnce: true) { _ in
            Parts(interceptors: [RequestCoalescing()], retrier: steadyBackoff(budget: .shared(budget)))
        } rest: {
            ["\(budget.balance)"]
        }
        #expect(story.contains { $0.hasPrefix("200 ok") })
        #expect(story.suffix(3) == ["sent at 0 ms", "sent at 1.500 s", "9"])
    }

    @Test("C22: a POST is repeated after what the server has rejected, and not after what it may have done")
    func unsafe() async throws {
        for (status, sends) in [(429, 2), (500, 1)] {
            for form in Form.allCases {
                let story = try await story(form, [.failure(status), .success()], Query(method: .post)) { _ in
                    Parts(retrier: steadyBackoff())
                }
                #expect(story.count == 1 + sends)
            }
        }
    }

    @Test("C22: traces and events name its status, and delivery, decisions and delays are the same")
    func trace() async throws {
        let answers: [Answer] = [.failure(503, ["Retry-After": "2"]), .failure(429), .failure(404)]
        var stories: [[String]] = []
        for form in Form.allCases {
            let observer = RecordingObserver()
            let story = try await story(form, answers) { _ in
                Parts(interceptors: [PassingOn()], retrier: steadyBackoff(), observer: observer)
            } rest: {
                observer.events.compactMap { event in
                    guard case .exchangeEnded(_, let exchange) = event else { return nil }
                    return "\(exchange.outcome) \(exchange.delivery)"
                }
            }
            stories.append(story)
        }
        #expect(stories[0] == stories[1])
        let outcomes = [503, 429, 404].map { "\(CallTrace.Exchange.Outcome.answered(status: $0))" }
        #expect(zip(stories[0].suffix(3), outcomes).allSatisfy { $0.hasPrefix($1) })
    }

    @Test("an answer is decoded once, as the interceptors have returned it", arguments: [false, true])
    func decodedOnce(isChanged: Bool) async throws {
        let read = Counter()
        let story = try await story(.body, [.success()], Query(read: read)) { _ in
            Parts(interceptors: [isChanged ? PassingOn { $0.body += Data("!".utf8) } : PassingOn()])
        }
        #expect(story.first?.hasPrefix(isChanged ? "200 ok!" : "200 ok,") == true)
        #expect(read.value == 1)
    }

    @Test("status(of:) also reads a body that an interceptor has decrypted")
    func decrypted() async throws {
        let opening = PassingOn { $0.body = Data("503".utf8) }
        let story = try await story(.body, [.success()]) { _ in Parts(interceptors: [opening]) }
        #expect(story.first?.hasPrefix("status 503") == true)
    }

    @Test("an interceptor sees the status, with the header that the request has given it, and may make a success of it")
    func seen() async throws {
        struct Ask: Request {
            typealias Result = String
            var route: HttpRoute { [] }
            func status(of response: HttpResponse<Data>) -> AnswerStatus {
                response.body == Data("busy".utf8)
                    ? AnswerStatus(429, retryAfter: .milliseconds(2_500)) : AnswerStatus(response.status)
            }

            func decode(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
        }
        let seen = Locked<[String]>([])
        let replacing = PassingOn { response in
            seen.withLock { $0.append("\(response.status) \(response.header.retryAfter()?.brief ?? "-")") }
            response = HttpResponse(body: Data("else".utf8))
        }
        let service = AnyHttpService(
            apiUrl: "a.com",
            interceptors: [replacing],
            transport: ScriptedTransport(.reply(text: "busy"))
        )
        #expect(try await Ask().schedule(with: service) == "else")
        #expect(seen.withLock { $0 } == ["429 2.500 s"])
    }
}

/// Changes the answer, or passes it on as it is.
private struct PassingOn: NetworkInterceptor {
    var change: @Sendable (inout HttpResponse<Data>) -> Void = { _ in }

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        var response = try await next(request)
        change(&response)
        return response
    }
}
