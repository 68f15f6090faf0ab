import Foundation
import NautilusCaching
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Network interceptors of one's own, in each stage", .endsInTime)
struct NetworkStageTests {
    @Test(
        "a POST sent again by an interceptor may have been executed by the first",
        arguments: [InterceptorTier.NetworkStage.changing, .signing, .network]
    )
    func sentAgain(stage: InterceptorTier.NetworkStage) async throws {
        let again = OwnNetworkInterceptor(networkStage: stage) { request, _, next in
            do { return try await next(request) } catch { return try await next(request) }
        }
        let transport = ScriptedTransport(
            .fail(.networkConnectionLost),
            .fail(.cannotConnectToHost),
            .reply(text: "twice")
        )
        let outcome = try await outcome(of: Ping.post, interceptors: [again], transport)
        #expect(transport.count == 2)
        #expect(outcome.error?.delivery == .maybeExecuted)
        #expect(outcome.trace.attempts.map { $0.exchanges.map(\.delivery).max() } == [.maybeExecuted])
        #expect(outcome.trace.attempts.map(\.exchanges.count) == [2])
    }

    @Test(
        "a request that an interceptor sends to another host has no credential",
        arguments: [InterceptorTier.NetworkStage.changing, .signing, .network]
    )
    func otherHost(stage: InterceptorTier.NetworkStage) async throws {
        try await simulate { simulation in
            let mirror = OwnNetworkInterceptor(networkStage: stage) { request, _, next in
                var request = request
                request.url = try #require(URL(string: "https://mirror.example.org/things"))
                return try await next(request)
            }
            let world = TokenWorld(simulation, accepting: [1]) { _, _ in .reply(text: "ok") }
            let service = world.service.with {
                $0.interceptors = [mirror]
                $0.asyncHeader = { ["X-Api-Key": "secret", "X-Other": "other"] }
            }
            _ = await Ping.get.result(with: service)
            let sent = world.transport.attempts.map(\.header)
            #expect(sent.map { $0[.authorization] } == [nil])
            #expect(sent.map { $0["X-Api-Key"] } == [nil])
            #expect(sent.map { $0["X-Other"] } == ["other"])
        }
    }

    @Test(
        "a `next` that is called after the send has ended sends nothing",
        arguments: [InterceptorTier.NetworkStage.changing, .signing, .network]
    )
    func kept(stage: InterceptorTier.NetworkStage) async throws {
        let kept = Locked<(HttpRequest, AttemptContext.Next)?>(nil)
        let keeper = OwnNetworkInterceptor(networkStage: stage) { request, _, next in
            kept.withLock { $0 = (request, next) }
            return try await next(request)
        }
        let transport = ScriptedTransport(.reply(text: "ok"), .reply(text: "late"))
        _ = try await outcome(of: Ping.post, interceptors: [keeper], transport)
        let (request, next) = try #require(kept.withLock { $0 })
        await #expect(throws: AttemptIsOver.self) { try await next(request) }
        #expect(transport.count == 1)
    }

    @Test(
        "a field that splits the header is refused",
        arguments: [InterceptorTier.NetworkStage.changing, .signing, .network]
    )
    func lineBreak(stage: InterceptorTier.NetworkStage) async throws {
        let splitting = OwnNetworkInterceptor(networkStage: stage) { request, _, next in
            var request = request
            request.header["X-Signature"] = "a\r\nX-Other: b"
            return try await next(request)
        }
        let transport = ScriptedTransport(.reply(text: "ok"))
        let outcome = try await outcome(of: Ping.post, interceptors: [splitting], transport)
        #expect(transport.count == 0)
        guard case .invalidRequest? = outcome.error?.kind, outcome.error?.delivery == .notSent else {
            Issue.record("\(outcome)")
            return
        }
    }

    private struct KeyMissing: Error {}

    @Test(
        "an interceptor that fails by itself has sent nothing",
        arguments: [InterceptorTier.NetworkStage.changing, .signing, .network]
    )
    func ownFailure(stage: InterceptorTier.NetworkStage) async throws {
        for failure in [KeyMissing() as any Error, CancellationError()] {
            let failing = OwnNetworkInterceptor(networkStage: stage) { _, _, _ in throw failure }
            let outcome = try await outcome(of: Ping.post, interceptors: [failing], ScriptedTransport())
            #expect(outcome.error?.delivery == .notSent)
            #expect(outcome.error?.stage == .intercept)
            #expect(outcome.error?.kind == .custom)
        }
    }

    @Test(
        "a timeout or a deadline before the transport has the request sends nothing",
        arguments: [InterceptorTier.NetworkStage.signing, .network]
    )
    func slow(stage: InterceptorTier.NetworkStage) async throws {
        for isCancellable in [true, false] {
            try await simulate { simulation in
                let clock = simulation.clock
                let slow = OwnNetworkInterceptor(networkStage: stage) { request, _, next in
                    if isCancellable {
                        try await clock.sleep(for: .seconds(10))
                    } else {
                        await withCheckedContinuation { continuation in
                            simulation.start {
                                try? await clock.sleep(for: .seconds(10))
                                continuation.resume()
                            }
                        }
                    }
                    return try await next(request)
                }
                let transport = ScriptedTransport(.reply(text: "ok"), clock: clock)
                let breaker = CircuitBreaker(limits: CircuitLimits(failuresInARow: 1), clock: clock)
                let service = AnyHttpService(
                    apiUrl: "api.example.com",
                    interceptors: [breaker, slow],
                    transport: transport,
                    clock: clock
                )
                for limited in [Ping(method: .post, timeout: .seconds(1)), Ping(method: .post, deadline: .seconds(1))] {
                    let error = try #require(await limited.result(with: service).error)
                    #expect(error.delivery == .notSent && transport.count == 0)
                    #expect(breaker.state(of: trafficOrigin) == .closed)
                    #expect(error.kind == (limited.timeout == nil ? .deadline(.seconds(1)) : .timeout(.seconds(1))))
                }
            }
        }
    }

    private final class Answering: InterruptibleTransport {
        func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
            HttpResponse(status: 200, body: Data("ok".utf8))
        }
    }

    @Test("a timeout ends an interceptor's wait in front of a transport that is interrupted without cancellation")
    func interruptible() async throws {
        let clock = ManualClock()
        let chaos = Chaos(seed: 1, .delay(.seconds(60) ... .seconds(60), rate: 1), isOn: true, clock: clock)
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [chaos],
            transport: Answering(),
            clock: clock
        )
        async let result = Ping(timeout: .seconds(1)).result(with: service)
        try await clock.waitForSleepers(count: 1)
        try await clock.waitForAlarms(count: 1)
        clock.advance(by: .seconds(1))
        #expect(await result.error?.kind == .timeout(.seconds(1)))
    }

    private final class Noting: HttpTransport {
        let clock: ManualClock
        init(_ clock: ManualClock) { self.clock = clock }
        func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
            try await clock.sleep(for: .milliseconds(20))
            context.noteResponseHeader()
            return HttpResponse(status: 200, body: Data("ok".utf8))
        }
    }

    @Test("the time of a signature is not the server's")
    func latency() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let signer = OwnNetworkInterceptor(networkStage: .signing) { request, _, next in
                try await clock.sleep(for: .milliseconds(500))
                return try await next(request)
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [signer],
                transport: Noting(clock),
                clock: clock
            )
            let trace = try await Ping.get.response(with: service).trace
            #expect(trace.attempts.first?.exchanges.first?.latency == .milliseconds(20))
        }
    }

    /// An answer without a body is a gateway's.
    private struct Listing: Request {
        typealias Result = String
        var route: HttpRoute { ["things"] }
        func status(of response: HttpResponse<Data>) -> AnswerStatus {
            AnswerStatus(response.body.isEmpty ? 502 : response.status)
        }
    }

    @Test("a 304 to a cache's question is the cache's, whatever interceptors the service has")
    func revalidated() async throws {
        try await simulate { simulation in
            let transport = ScriptedTransport(clock: simulation.clock) { request, _ in
                request.header["If-None-Match"] == nil
                    ? .reply(header: ["ETag": "\"1\"", "Cache-Control": "no-cache"], text: "ok")
                    : .status(304, header: ["ETag": "\"1\""])
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [HttpCache(), StatusCorrection { $0.status == 419 ? 401 : nil }],
                transport: transport,
                clock: simulation.clock
            )
            for _ in 1...2 { #expect(await Listing().result(with: service).isOk) }
        }
    }
}

extension NetworkStageTests {
    @Test("a signature is made for the service's own origin, and no other origin sees it")
    func signature() async throws {
        let signing = OwnNetworkInterceptor(networkStage: .signing) { request, _, next in
            var request = request
            request.header["X-Signature"] = "signed \(request.url.path)"
            return try await next(request)
        }
        let transport = ScriptedTransport(
            .status(302, header: ["Location": "/second"]),
            .status(302, header: ["Location": "https://cdn.example.org/third"]),
            .reply(text: "ok")
        )
        _ = try await outcome(of: Ping.get, interceptors: [signing], transport)
        #expect(transport.attempts.map { $0.header["X-Signature"] } == ["signed /things", "signed /second", nil])
    }

    @Test("an interceptor with an answer for failures does not keep a call from waiting for its credential")
    func standIn() async throws {
        try await simulate { simulation in
            let standIn = OwnNetworkInterceptor { request, _, next in
                do { return try await next(request) } catch { return HttpResponse(body: Data("stand-in".utf8)) }
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [standIn],
                retrierFactory: AnyRetrierFactory.authorizing(
                    with: AwaitedCredential { try await simulation.clock.sleep(for: .seconds(1)) }
                ),
                transport: ScriptedTransport(.reply(text: "ok")),
                clock: simulation.clock
            )
            let text = try await Ping.get.schedule(with: service)
            #expect(text == "ok")
        }
    }
}
