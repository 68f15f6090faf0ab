import Foundation
import Nautilus
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@Suite("The records of exchanges")
struct ExchangeTests {
    private struct Closure: CallInterceptor {
        let handle: @Sendable (HttpRequest, CallContext, Next) async throws -> HttpResponse<Data>
        func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
            try await handle(request, context, next)
        }
    }

    private static let helperUrl = URL(string: "https://api.example.com/things") ?? URL(fileURLWithPath: "/")

    /// A POST of an interceptor's own, with a key of its own, to the very path of the call's request.
    private static func helper(_ key: String?) -> HttpRequest {
        var request = HttpRequest(method: .post, url: helperUrl, body: .data(Data("helper".utf8)))
        request.header[.idempotencyKey] = key
        return request
    }

    // MARK: - Keys

    @Test(
        "C2: a helper's POST keeps its own key, and the order never gets it, whichever way the helper is sent",
        arguments: [0, 1, 2],
        [true, false]
    )
    func keys(way: Int, isFirst: Bool) async throws {
        let drawn = Counter()
        let helping = Closure { request, context, next in
            func help() async throws {
                switch way {
                case 0: _ = try await next(Self.helper("helper-\(drawn.increment())"))
                case 1:
                    // Made of the order by changing it.
                    var helper = request
                    helper.body = .data(Data("helper".utf8))
                    helper.header[.idempotencyKey] = "helper-\(drawn.increment())"
                    _ = try await next(helper)
                default: _ = try await context.send(Self.helper("helper-\(drawn.increment())"))
                }
            }
            if isFirst { try await help() }
            let response = try await next(request)
            if !isFirst { try await help() }
            return response
        }
        let ordered = Locked(0)
        let transport = ScriptedTransport { request, _ in
            guard case .data(let body) = request.body, body == Data("payload".utf8) else {
                return .reply(text: "helped")
            }
            let count = ordered.withLock { count in
                count += 1
                return count
            }
            return count == 1 ? .status(503) : .reply(text: "made")
        }
        let keys = Locked(0)
        let idempotency = IdempotencyKeys {
            keys.withLock { count in
                count += 1
                return "order-\(count)"
            }
        }
        let outcome = try await outcome(of: Ping.post, interceptors: [idempotency, helping], transport)
        #expect(outcome.response?.body == "made")
        var orderKeys: [String?] = []
        var helperKeys: [String?] = []
        for attempt in transport.attempts {
            guard case .data(let body) = attempt.request.body else { continue }
            let key = attempt.request.header[.idempotencyKey]
            if body == Data("payload".utf8) { orderKeys.append(key) } else { helperKeys.append(key) }
        }
        // Each is repeated for itself alone.
        #expect(orderKeys == ["order-1", "order-1"])
        #expect(helperKeys == ["helper-1"])
    }

    @Test(
        "C2: what an interceptor does to the call's request on its way keeps the call's key: compressed, signed, sent on"
    )
    func changedOnItsWay() async throws {
        let changing = Closure { request, _, next in
            var request = request
            request.body = .data(Data("packed".utf8))
            request.url = URL(string: "https://other.example.com/things?signature=1") ?? request.url
            do { return try await next(request) } catch { return try await next(request) }
        }
        let keys = Counter()
        let outcome = try await outcome(
            of: Ping.post,
            interceptors: [
                Closure { request, context, next in
                    // Draws anew each time.
                    try await IdempotencyKeys { "key-\(keys.increment())" }
                        .intercept(request, context: context, next: next)
                }, changing,
            ],
            ScriptedTransport { request, context in
                #expect(request.header[.idempotencyKey] == "key-1")
                return context.number < 2 ? .fail(.networkConnectionLost) : .reply(text: "made")
            }
        )
        #expect(outcome.response?.body == "made")
        #expect(outcome.trace.exchanges.map(\.role) == [.main, .main])
    }

    // MARK: - Subrequests

    @Test("a subrequest has its own place in the trace, passes the network tier, and answers for itself")
    func subrequest() async throws {
        let asking = Closure { request, context, next in
            let subrequest = try await context.send(Self.helper(nil))
            #expect(subrequest.status == 500)
            #expect(subrequest.exchange?.role == .subrequest)
            #expect(subrequest.request?.header["X-Inner"] == "yes")
            return try await next(request)
        }
        let inner = OwnNetworkInterceptor { request, _, next in
            var request = request
            request.header["X-Inner"] = "yes"
            return try await next(request)
        }
        let transport = ScriptedTransport(.status(500), .status(503), .status(500), .reply(text: "ok"))
        let outcome = try await outcome(of: Ping.get, interceptors: [asking, inner], transport)
        #expect(outcome.response?.body == "ok")
        #expect(outcome.trace.attempts.map { $0.exchanges.map(\.role) } == [[.subrequest, .main], [.main], [.main]])
        #expect(outcome.trace.exchanges.map(\.number) == [1, 2, 3, 4])
        #expect(outcome.trace.exchanges.map(\.attempt) == [1, 1, 2, 3])
        #expect(outcome.trace.exchanges.map(\.status) == [500, 503, 500, 200])
        // The subrequest, a POST that may have run, does not keep the GET from being repeated.
        #expect(outcome.trace.attempts.first?.decision?.action == .retry(after: .milliseconds(500)))
    }

    @Test("subrequests are authorized by the call's own credential")
    func subrequestAuthorization() async throws {
        let written = Counter()
        let credential = AwaitedCredential {
            await Task.yield()
        } write: {
            $0.header["X-Number"] = "\(written.increment())"
        }
        let asking = Closure { request, context, next in
            for _ in 0..<20 { _ = try await context.send(Self.helper(nil)) }
            return try await next(request)
        }
        let transport = ScriptedTransport(.reply(text: "ok"), afterLast: .repeat)
        let outcome = try await outcome(
            of: Ping.get,
            retrier: AnyRetrierFactory.authorizing(with: credential),
            interceptors: [asking],
            transport
        )
        #expect(outcome.response?.body == "ok")
        #expect(Set(transport.attempts.map { $0.request.header["X-Number"] }) == Set((1...21).map { "\($0)" }))
        #expect(transport.count == 21)
    }

    // MARK: - Identity

    @Test("two calls of one type are told apart, in events, contexts, traces and errors")
    func identity() async throws {
        let observer = RecordingObserver()
        let transport = ScriptedTransport(.reply(text: "ok"), .status(404))
        let service = AnyHttpService(apiUrl: "api.example.com", transport: transport).with { $0.observer = observer }
        let first = try await Ping.get.response(with: service).trace.call
        let error = await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: service) }
        let second = try #require(error?.call)
        #expect(first != second)
        #expect(second.request == "Ping")
        #expect(error?.trace.call == second)
        #expect(error?.exchange?.call == second.id)
        #expect(transport.attempts.map(\.context.call) == [first, second])
        let calls = observer.events.compactMap { event -> CallIdentity? in
            switch event {
            case .attemptStarted(let call, _), .exchangeStarted(let call, _), .exchangeEnded(let call, _),
                .attemptEnded(let call, _), .callEnded(let call, _):
                call
            default: nil
            }
        }
        #expect(calls == Array(repeating: first, count: 5) + Array(repeating: second, count: 5))
    }

    @Test("a call within another one names it, and one that comes after its end names none")
    func parent() async throws {
        let inner = AnyHttpService(
            apiUrl: "inner.example.com",
            transport: ScriptedTransport(.reply(text: "in"), afterLast: .repeat)
        )
        let within = Locked<CallIdentity?>(nil)
        let nesting = Closure { request, context, next in
            let call = try await Ping.get.response(with: inner).trace.call
            #expect(call.parent == context.call.id)
            within.withLock { $0 = call }
            return try await next(request)
        }
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [nesting],
            transport: ScriptedTransport(.reply(text: "ok"))
        )
        let outer = try await Ping.get.response(with: service).trace.call
        #expect(outer.parent == nil)
        #expect(within.withLock { $0?.parent } == outer.id)
        #expect(try await Ping.get.response(with: inner).trace.call.parent == nil)
    }

    // MARK: - Latency

    @Test(
        "C8: a latency is from the sending to the header: no refresh that came before it, no body that comes after it"
    )
    func latency() async throws {
        struct Whole: Request {
            typealias Result = Int
            var route: HttpRoute { [] }
            var streamsResponse: Bool { true }
            func decode(_ data: Data) throws -> Int { data.count }
            func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> Int {
                try await response.body.reduce(0) { $0 + $1.count }
            }
        }
        try await simulate { simulation in
            let clock = simulation.clock
            let latencies = OriginLatencies(minimumCount: 1, clock: clock)
            let slow = AwaitedCredential { try await clock.sleep(for: .seconds(8)) }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: .composed(
                    AnyRetrierFactory.authorizing(with: slow),
                    BackoffRetrier.factory(
                        .standard.with {
                            $0.budget = .unlimited
                            $0.latencies = latencies
                        }
                    )
                ),
                transport: ScriptedTransport(
                    .delay(.milliseconds(20), then: .chunks([Data(count: 5), Data(count: 5)], pause: .seconds(60))),
                    clock: clock
                ),
                clock: clock
            )
            let response = try await Whole().response(with: service)
            #expect(response.body == 10)
            #expect(clock.now.offset >= .seconds(60))
            let origin = try #require(response.trace.request?.origin)
            #expect(latencies.median(of: origin) == .milliseconds(20))
            #expect(response.trace.exchanges.map(\.latency) == [.milliseconds(20)])
            #expect(response.trace.exchanges.map(\.start) == [.seconds(8)])
        }
    }

    // MARK: - Cancellation and errors

    @Test("C24: a cancellation that is not the caller's is a failure like any other, and the retrier is asked")
    func foreignCancellation() async throws {
        struct Elsewhere: Error {}
        let asked = Counter()
        let outcome = try await outcome(
            of: Ping.get,
            retrier: ScriptedRetrier.factory { _, error in
                asked.increment()
                return false
            },
            interceptors: [OwnNetworkInterceptor { _, _, _ in throw CancellationError() }],
            ScriptedTransport()
        )
        #expect(outcome.error?.kind == .custom)
        #expect(outcome.error?.underlying is CancellationError)
        #expect(asked.value == 1)
    }

    @Test("C27: an error of the retrier's own tells which attempt of which request has failed")
    func failWith() async throws {
        let outcome = try await outcome(
            of: Ping.get,
            retrier: ScriptedRetrier.factory { _, _ in .fail(with: HttpError(.custom, stage: .retry)) },
            ScriptedTransport(.status(500))
        )
        #expect(outcome.error?.attempt == 1)
        #expect(outcome.error?.request?.description == "GET https://api.example.com/things")
        #expect(outcome.error?.call == outcome.trace.call)
    }
}
