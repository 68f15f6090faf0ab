import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("HttpCache: stale answers, RFC 5861", .endsInTime)
struct StaleTests {
    private static let header: HttpHeader = [
        "Cache-Control": "max-age=60, stale-while-revalidate=60", "ETag": "\"1\"",
    ]

    @Test("ten calls get the stale answer at once, one exchange renews it behind them, and the hook hears of ten calls")
    func revalidation() async throws {
        try await simulate { simulation in
            let hook = CountingHook()
            let world = CacheWorld(clock: simulation.clock, hook: hook) { request, _ in
                request.header["If-None-Match"] == nil
                    ? .reply(header: Self.header, text: "one")
                    : .delay(.seconds(1), then: .status(304, header: Self.header))
            }
            #expect(await world.get() == "200 one")
            try await simulation.clock.sleep(for: .seconds(70))
            let before = simulation.clock.now
            await withTaskGroup(of: String.self) { group in
                for _ in 0..<10 { group.addTask { await world.get() } }
                for await answer in group { #expect(answer == "200 one age 70") }
            }
            #expect(simulation.clock.now == before)
            try await simulation.clock.sleep(for: .seconds(2))
            #expect(world.sentTags == ["-", "\"1\""])
            // The second that the 304 was on its way counts, too.
            #expect(await world.get() == "200 one age 2")
            #expect(hook.scheduled.value == 12)
        }
    }

    @Test("a cache within an interceptor of one's own answers as soon, and asks behind the call as well")
    func wrapped() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in
                let answer =
                    request.header["If-None-Match"] == nil
                    ? ScriptedReply.reply(header: Self.header, text: "one") : .status(304, header: Self.header)
                return .delay(.milliseconds(300), then: answer)
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [Wrapper(inner: HttpCache(wallClock: { clock.date }))],
                transport: transport,
                clock: clock
            )
            #expect(try await Ping.get.schedule(with: service) == "one")
            try await clock.sleep(for: .seconds(60))
            let before = clock.now
            #expect(try await Ping.get.schedule(with: service) == "one")
            #expect(clock.now == before)
            try await clock.sleep(for: .seconds(1))
            #expect(try await Ping.get.response(with: service).header["Age"] == "1")
            #expect(transport.count == 2)
        }
    }

    @Test("C21: what a revalidation leaves behind is served as any other call is")
    func leftBehind() async throws {
        try await simulate { simulation in
            let (clock, leaving) = (simulation.clock, Leaving())
            let world = CacheWorld(clock: clock, inside: [leaving]) { request, _ in
                request.header["If-None-Match"] == nil
                    ? .reply(header: Self.header, text: "one") : .status(304, header: Self.header)
            }
            #expect(await world.get() == "200 one")
            try await clock.sleep(for: .seconds(60))
            leaving.work.withLock { work in
                work = {
                    try? await clock.sleep(for: .seconds(1))
                    #expect(await world.get() == "200 one age 1")
                }
            }
            #expect(await world.get() == "200 one age 60")
            try await clock.sleep(for: .seconds(2))
            #expect(leaving.done.value == 1)
            #expect(world.transport.count == 2)
        }
    }

    @Test("a revalidation that fails leaves the stale answer, and the next call begins another")
    func failingRevalidation() async throws {
        try await simulate { simulation in
            let world = CacheWorld(clock: simulation.clock) { request, _ in
                request.header["If-None-Match"] == nil ? .reply(header: Self.header, text: "one") : .status(500)
            }
            #expect(await world.get() == "200 one")
            for second in 60...62 {
                try await simulation.clock.sleep(for: .seconds(second == 60 ? 60 : 1))
                #expect(await world.get() == "200 one age \(second)")
                try await simulation.clock.sleep(for: .milliseconds(1))
            }
            #expect(world.transport.count == 4)
        }
    }

    @Test("a revalidation has a deadline of its own, and outlives the call that began it")
    func deadline() async throws {
        try await simulate { simulation in
            let world = CacheWorld(clock: simulation.clock) { request, _ in
                request.header["If-None-Match"] == nil
                    ? .reply(header: Self.header, text: "one")
                    : .delay(.seconds(5), then: .status(304, header: Self.header))
            }
            #expect(await world.get() == "200 one")
            try await simulation.clock.sleep(for: .seconds(60))
            let call = BackgroundTask.start {
                let response = try? await Ping(deadline: .seconds(10)).response(with: world.service)
                #expect(response?.header["Age"] == "60")
            }
            await call.value
            call.cancel()
            try await simulation.clock.sleep(for: .seconds(6))
            #expect(await world.get() == "200 one age 6")
            #expect(world.transport.count == 2)
        }
    }

    @Test("a revalidation is no call within the call that began it")
    func isNoNestedCall() async throws {
        try await simulate { simulation in
            let observer = RecordingObserver()
            let world = CacheWorld(clock: simulation.clock, retrier: steadyBackoff()) { request, _ in
                request.header["If-None-Match"] == nil
                    ? .reply(header: Self.header, text: "one")
                    : .status(304, header: Self.header)
            }
            let service = world.service.with { $0.observer = observer }
            for age in ["-", "60"] {
                let response = try await Ping.get.response(with: service)
                #expect(response.header["Age"] ?? "-" == age)
                try await simulation.clock.sleep(for: .seconds(60))
            }
            #expect(world.transport.count == 2)
            #expect(observer.traces.map(\.call.parent) == [nil, nil, nil])
        }
    }

    @Test("without a call to repeat, the first revalidates itself while the others get the stale answer")
    func inTheForeground() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let cache = HttpCache(wallClock: { clock.date })
            let sent = Counter()
            @Sendable func ask() async throws -> String {
                let next = CallContext.Next { request in
                    sent.increment()
                    guard request.header["If-None-Match"] != nil else { return .test(header: Self.header) }
                    try await clock.sleep(for: .seconds(1))
                    return .test(304, header: Self.header)
                }
                let context = CallContext(serviceOrigin: trafficOrigin)
                let response = try await cache.intercept(trafficRequest, context: context, next: next)
                return response.header["Age"] ?? "-"
            }
            #expect(try await ask() == "-")
            try await clock.sleep(for: .seconds(60))
            async let first = ask()
            try await clock.sleep(for: .milliseconds(1))
            #expect(try await ask() == "60")
            #expect(try await first == "1")
            #expect(sent.value == 2)
        }
    }

    @Test(
        "a stale answer stands in for a server that fails, and not for what this side has done",
        arguments: [
            (ScriptedReply.status(500), true), (.status(502), true), (.status(503), true), (.status(504), true),
            (.status(529), true),
            (.status(501), false), (.status(429), false), (.status(404), false),
            (.fail(.notConnectedToInternet, delivery: .notSent), true), (.fail(.timedOut), true),
            (.fail(CancellationError()), false),
        ]
    )
    func staleIfError(reply: ScriptedReply, standsIn: Bool) async throws {
        let world = CacheWorld.answering(
            .reply(header: ["Cache-Control": "max-age=60, stale-if-error=30", "ETag": "\"1\""], text: "one"),
            reply,
            reply
        )
        #expect(await world.get() == "200 one")
        world.advance(89)
        #expect((await world.get() == "200 one age 89") == standsIn)
        world.advance(1)
        #expect(await world.get() != "200 one age 90")
        #expect(world.transport.count == 3)
    }

    @Test("C19: a reload that fails is not answered by what it asked to have renewed, unless somebody has allowed that")
    func reload() async throws {
        for (control, outcome) in [("max-age=60", "status 503"), ("max-age=60, stale-if-error=30", "200 one age 1")] {
            let world = CacheWorld.answering(.reply(header: ["Cache-Control": control], text: "one"), .status(503))
            #expect(await world.get() == "200 one")
            world.advance(1)
            #expect(await world.get(["Cache-Control": "max-age=0"]) == outcome)
            #expect(await world.get() == "200 one age 1")
            #expect(world.transport.count == 2)
        }
    }

    @Test("if the server sends no stale-if-error, the cache's own staleIfError applies")
    func standard() async throws {
        let world = CacheWorld.answering(
            .reply(header: ["Cache-Control": "max-age=60"], text: "one"),
            .fail(.notConnectedToInternet),
            .fail(.notConnectedToInternet),
            staleIfError: .seconds(10)
        )
        #expect(await world.get() == "200 one")
        world.advance(69)
        #expect(await world.get() == "200 one age 69")
        world.advance(1)
        #expect(await world.get().contains("(URLError "))
    }

    @Test(
        "the cache's own time holds for an answer without any word about it, and without anything to validate it by",
        arguments: [[:], ["Cache-Control": "max-age=0"], ["Cache-Control": "private"]] as [HttpHeader]
    )
    func standardWithoutWord(header: HttpHeader) async throws {
        let world = CacheWorld.answering(
            .reply(header: header, text: "one"),
            .fail(.notConnectedToInternet),
            .status(503),
            .status(503),
            .reply(header: header, text: "two"),
            staleIfError: .seconds(10)
        )
        #expect(await world.get() == "200 one")
        #expect(await world.get() == "200 one age 0")
        world.advance(9)
        #expect(await world.get() == "200 one age 9")
        world.advance(1)
        #expect(await world.get() == "status 503")
        #expect(await world.get() == "200 two")
        #expect((world.transport.count, world.cache.responseCount) == (5, 1))
    }

    @Test(
        "a response that must not replace a failed answer is not stored for that",
        arguments: [
            "max-age=0, must-revalidate", "no-cache", "no-store", "stale-if-error=0",
            "no-cache, stale-if-error=10", "max-age=0, must-revalidate, stale-if-error=10",
        ]
    )
    func standardForbidden(control: String) async throws {
        let world = CacheWorld.answering(
            .reply(header: ["Cache-Control": control], text: "one"),
            .status(503),
            staleIfError: .seconds(10)
        )
        #expect(await world.get() == "200 one")
        #expect(world.cache.responseCount == 0)
        #expect(await world.get() == "status 503")
    }
}

/// Counts what it is asked.
private final class CountingHook: ServiceHook {
    let scheduled = Counter()

    func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
        scheduled.increment()
        return nil
    }
}

/// Leaves a task behind, once.
private struct Leaving: CallInterceptor {
    let work = Locked<(@Sendable () async -> Void)?>(nil)
    let done = Counter()

    func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
        if let work = work.withLock({ $0.take() }) {
            BackgroundTask.start {
                await work()
                done.increment()
            }
        }
        return try await next(request)
    }
}

/// Does what another interceptor does.
private struct Wrapper: CallInterceptor {
    let inner: any CallInterceptor

    func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
        try await inner.intercept(request, context: context, next: next)
    }
}
