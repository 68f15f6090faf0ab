import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("Layers that keep accounts apart in different ways", .endsInTime)
struct CacheLayersTests {
    @Test(
        "an answer from a cache that knows its account is nobody else's for the cache around it",
        arguments: [
            ("max-age=60", 0), ("max-age=1, stale-while-revalidate=60", 2), ("max-age=1, stale-if-error=60", 2),
        ]
    )
    func cacheInCache(control: String, seconds: Int) async throws {
        try await simulate { simulation in
            let (user, clock) = (Locked<String?>("anna"), simulation.clock)
            let accounts = CacheAccounts.separate { _ in user.withLock { $0 } }
            let inner = HttpCache(accounts: accounts, wallClock: { clock.date })
            let world = CacheWorld(clock: clock, retrier: UserRetrier.factory(user), inside: [inner]) { request, _ in
                // Whatever asks again finds a server in trouble.
                if clock.now.offset > .zero, request.header[.authorization] == "Bearer anna" {
                    return .delay(.seconds(1), then: .status(503))
                }
                return .reply(
                    header: ["Cache-Control": control, "ETag": "\"1\""],
                    text: request.header[.authorization] ?? "nobody"
                )
            }
            #expect(await world.get() == "200 Bearer anna")
            #expect((world.cache.responseCount, inner.responseCount) == (0, 1))
            if seconds > 0 { try await clock.sleep(for: .seconds(seconds)) }
            for _ in 1...2 {
                #expect(await world.get().hasPrefix("200 Bearer anna age"))
                #expect(world.cache.responseCount == 0)
            }
            user.withLock { $0 = "bert" }
            #expect(await world.get() == "200 Bearer bert")
            #expect(world.cache.responseCount == 0)
        }
    }

    @Test(
        "a cached answer in the place of a failure belongs to the cache's account"
    )
    func standsIn() async throws {
        let (user, clock) = (Locked<String?>("anna"), ManualClock())
        let accounts = CacheAccounts.separate { _ in user.withLock { $0 } }
        let inner = HttpCache(accounts: accounts, wallClock: { clock.date })
        let world = CacheWorld(
            clock: clock,
            retrier: UserRetrier.factory(user),
            inside: [inner, Breaker(clock: clock)]
        ) {
            request,
            _ in
            .reply(
                header: ["Cache-Control": "max-age=1, stale-if-error=60"],
                text: request.header[.authorization] ?? "nobody"
            )
        }
        #expect(await world.get() == "200 Bearer anna")
        world.advance(2)
        #expect(await world.get() == "200 Bearer anna age 2")
        #expect((world.transport.count, world.cache.responseCount, inner.responseCount) == (1, 0, 1))
        user.withLock { $0 = "bert" }
        #expect(!(await world.get().hasPrefix("200")))
    }

    @Test("an answer that a cache of a later stage gives without asking is not shared: nothing tells whose it is")
    func cacheInCoalescing() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let cache = HttpCache(accounts: .separate { $0.header["X-User"] }, wallClock: { clock.date })
            let asked = Counter()
            let slow = Waiting {
                asked.increment()
                try await clock.sleep(for: .seconds(1))
            }
            let transport = ScriptedTransport { request, _ in
                .reply(header: ["Cache-Control": "max-age=60"], text: request.header["X-User"] ?? "nobody")
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [RequestCoalescing(ignoring: ["X-User"]), slow, cache],
                transport: transport,
                clock: clock
            )
            for user in ["anna", "bert"] {
                #expect(try await Ping(header: ["X-User": "\(user)"]).schedule(with: service) == user)
            }
            async let annas = Ping(header: ["X-User": "anna"]).schedule(with: service)
            async let berts = Ping(header: ["X-User": "bert"]).schedule(with: service)
            let answers = try await (annas, berts)
            #expect(answers == ("anna", "bert"))
            #expect((asked.value, transport.count) == (4, 2))
        }
    }
}

/// Does something before a request goes on, and after its answer has come.
struct Passage: NetworkInterceptor {
    var after: @Sendable () -> Void = {}
    let before: @Sendable () -> Void

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        before()
        defer { after() }
        return try await next(request)
    }
}

/// Refuses every request but those of the first second.
private struct Breaker: NetworkInterceptor {
    let clock: ManualClock

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        if clock.now.offset < .seconds(1) { return try await next(request) }
        throw HttpError(.refused(.circuitOpen(nextProbe: nil)), stage: .intercept, delivery: .notSent)
    }
}

/// Waits before each request goes on.
private struct Waiting: CallInterceptor {
    let wait: @Sendable () async throws -> Void

    func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
        try await wait()
        return try await next(request)
    }
}
