import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus

@Suite("AttemptEvent: what becomes of an attempt outside of an interceptor's sight", .endsInTime)
struct AttemptEventTests {
    private struct Closure: CallInterceptor {
        let body: @Sendable (HttpRequest, AttemptContext, Next) async throws -> HttpResponse<Data>

        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            try await body(request, context, next)
        }
    }

    /// Writes down what it is told of each attempt.
    private final class Follower: CallInterceptor {
        private let lines = Locked<[String]>([])
        var told: [String] { lines.withLock { $0 } }

        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            context.follow { [lines] event in
                let what =
                    switch event {
                    case .sending(let sent, let role):
                        "sending \(role.rawValue) \(sent.url.path) as \(sent.header[.authorization] ?? "nobody")"
                            + (sent.header["X-Inner"].map { " with \($0)" } ?? "")
                    case .succeeded: "succeeded"
                    case .failed(let error): "failed to \(error.stage)"
                    case .callEnded: "call ended"
                    }
                lines.withLock { $0.append("\(context.number): \(what)") }
            }
            return try await next(request)
        }
    }

    private static func told(
        _ replies: @escaping ScriptedReply.Responder,
        inside interceptors: [any HttpInterceptor] = [],
        retrier: any RetrierFactory = AnyRetrierFactory { UserStamp(user: Locked("anna")) },
        request: some Request = Ping.get,
        clock: ManualClock = ManualClock()
    ) async -> [String] {
        let follower = Follower()
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [follower] + interceptors,
            retrierFactory: retrier,
            transport: ScriptedTransport(clock: clock, responder: replies),
            clock: clock
        )
        _ = try? await request.schedule(with: service)
        return follower.told
    }

    @Test("a request is told of as it goes on the wire: changed further in, and stamped by the retrier")
    func sending() async {
        let inner = Closure { request, context, next in
            var request = request
            request.header["X-Inner"] = "more"
            return try await next(request)
        }
        let told = await Self.told({ _, _ in .status(200) }, inside: [inner])
        #expect(told == ["1: sending main /things as Bearer anna with more", "1: succeeded", "1: call ended"])
    }

    @Test("side requests are told of as such, redirects not")
    func side() async {
        let inner = Closure { request, context, next in
            var other = request
            other.url = request.url.appendingPathComponent("side")
            _ = try await context.send(other)
            return try await next(request)
        }
        let told = await Self.told(
            { request, _ in
                request.url.path == "/things" ? .status(302, header: ["Location": "/elsewhere"]) : .status(200)
            },
            inside: [inner]
        )
        #expect(
            told == [
                "1: sending side /things/side as Bearer anna", "1: sending main /things as Bearer anna", "1: succeeded",
                "1: call ended",
            ]
        )
    }

    @Test("a side request is told of to those that it passes by itself, and ends with its answer")
    func withinSide() async {
        let inner = Follower()
        let asking = Closure { request, context, next in
            _ = try await context.send(request)
            return try await next(request)
        }
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [asking, inner],
            transport: ScriptedTransport(.status(200), afterLast: .repeat)
        )
        _ = try? await Ping.get.schedule(with: service)
        #expect(
            inner.told == [
                "1: sending side /things as nobody", "1: call ended", "1: sending main /things as nobody",
                "1: succeeded",
                "1: call ended",
            ]
        )
    }

    @Test("each attempt's end is told to those that follow it, the call's to all")
    func attempts() async throws {
        try await simulate { simulation in
            let told = await Self.told(
                { _, context in context.number == 1 ? .status(503) : .reply(text: "ok") },
                retrier: steadyBackoff(),
                clock: simulation.clock
            )
            #expect(
                told == [
                    "1: sending main /things as nobody", "1: failed to validate",
                    "2: sending main /things as nobody", "2: succeeded", "1: call ended", "2: call ended",
                ]
            )
        }
    }

    @Test("what cannot be decoded has failed to decode; a failure further in is the attempt's, too")
    func failures() async {
        let undecodable = await Self.told({ _, _ in .reply(text: "?") }, request: Undecodable())
        #expect(undecodable.suffix(2) == ["1: failed to decode", "1: call ended"])
        let lost = await Self.told({ _, _ in .fail(.networkConnectionLost) })
        #expect(lost.suffix(2) == ["1: failed to send", "1: call ended"])
    }

    @Test("a call that is cancelled, or runs out of time, ends for its followers as well")
    func cancelled() async throws {
        try await simulate { simulation in
            let follower = Follower()
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [follower],
                transport: ScriptedTransport(.delay(.seconds(9), then: .status(200)), clock: simulation.clock),
                clock: simulation.clock
            )
            _ = try? await Ping(deadline: .seconds(1)).schedule(with: service)
            #expect(follower.told.last == "1: call ended")
        }
    }

    @Test("C21: a handler is released with its call, though it holds the context that it follows")
    func released() async throws {
        final class Token: Sendable {}
        let held = Locked<[@Sendable () -> Bool]>([])
        let leaking = Closure { request, context, next in
            let own = Token()
            held.withLock { $0.append { [weak own] in own == nil } }
            context.follow { _ in _ = (own, context) }
            return try await next(request)
        }
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [leaking],
            transport: ScriptedTransport(.status(200))
        )
        _ = try await Ping.get.schedule(with: service)
        #expect(held.withLock { $0 }.map { $0() } == [true])
    }

    @Test("in a context that a test has made nothing is told")
    func outsideOfCalls() async throws {
        let follower = Follower()
        let context = AttemptContext(serviceOrigin: try #require(HttpOrigin(URL(string: "https://a.com")!)))
        let request = HttpRequest(url: try #require(URL(string: "https://a.com/things")))
        _ = try await follower.intercept(request, context: context) { _ in HttpResponse(status: 200, body: Data()) }
        #expect(follower.told == [])
    }
}
