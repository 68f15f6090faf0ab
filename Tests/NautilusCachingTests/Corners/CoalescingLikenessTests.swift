import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP
@testable import NautilusTraffic

private struct Changing: NetworkInterceptor {
    let work: @Sendable (inout HttpRequest, AttemptContext) -> Void
    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        var request = request
        work(&request, context)
        return try await next(request)
    }
}

private struct SecretGet: Request {
    typealias Result = String
    var route: HttpRoute { ["reset", .sensitive("tok123")] }
}
private struct LooseGet: Request {
    typealias Result = String
    var route: HttpRoute { ["reset", "tok123"] }
}

@Suite("RequestCoalescing: identical requests", .endsInTime)
struct CoalescingLikenessTests {
    @Test("a leader that is not to retry, since it had a stale answer, and a call that has none")
    func withoutRetries() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let sent = Counter()
            let world = CacheWorld(clock: clock, retrier: steadyBackoff(), inside: [RequestCoalescing()]) { _, _ in
                let header: HttpHeader = ["Cache-Control": "max-age=1, stale-if-error=600"]
                return sent.increment() == 2
                    ? .delay(.seconds(1), then: .status(503)) : .reply(header: header, text: "v\(sent.value)")
            }
            #expect(await world.get() == "200 v1")
            try await clock.sleep(for: .seconds(5))
            async let first = world.get()
            try await clock.sleep(for: .milliseconds(10))
            await world.cache.remove(try .reading("https://api.example.com/things"))
            async let second = world.get()
            #expect(await first == "200 v1 age 6")
            #expect(await second == "200 v3")
        }
    }

    @Test("a call's own condition, and a cache's")
    func conditions() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let header: HttpHeader = ["Cache-Control": "max-age=1", "ETag": "\"1\""]
            let world = CacheWorld(clock: clock, inside: [RequestCoalescing()]) { request, _ in
                request.header["If-None-Match"] == nil
                    ? .reply(header: header, text: "one") : .delay(.seconds(1), then: .status(304, header: header))
            }
            #expect(await world.get() == "200 one")
            try await clock.sleep(for: .seconds(5))
            async let own = world.get(["If-None-Match": "\"1\""])
            try await clock.sleep(for: .milliseconds(10))
            async let cached = world.get()
            #expect(await own == "status 304")
            let got = await cached
            #expect(got.hasPrefix("200 one"), "\(got)")
        }
    }

    @Test("the answer to a hedge with the language of one user", arguments: [true, false])
    func hedge(hedges: Bool) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let sent = Counter()
            let transport = ScriptedTransport(clock: clock) { request, _ in
                let language = request.header[.acceptLanguage] ?? "-"
                return sent.increment() == 1
                    ? .delay(.seconds(hedges ? 5 : 1), then: .reply(text: language)) : .reply(text: language)
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [
                    RequestCoalescing(),
                    Hedging(
                        after: .fixed(.milliseconds(hedges ? 100 : 9_000)),
                        latencies: OriginLatencies(clock: clock),
                        budget: .unlimited
                    ),
                    germanFirst(),
                ],
                transport: transport,
                clock: clock
            )
            async let german = Ping.get.result(with: service)
            try await clock.sleep(for: .milliseconds(10))
            async let french = Ping.get.result(with: service)
            #expect(text(await german) == "de")
            #expect(text(await french) == "fr")
        }
    }

    @Test("the answer to a redirect with the language of one user")
    func redirect() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in
                let language = request.header[.acceptLanguage] ?? "-"
                return request.url.path == "/things"
                    ? .delay(.seconds(1), then: .status(302, header: ["Location": "/\(language)"]))
                    : .reply(text: language + request.url.path)
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [
                    RequestCoalescing(),
                    germanFirst(),
                ],
                transport: transport,
                clock: clock
            )
            async let german = Ping.get.result(with: service)
            try await clock.sleep(for: .milliseconds(10))
            async let french = Ping.get.result(with: service)
            #expect(text(await german) == "de/de")
            #expect(text(await french) == "fr/fr")
        }
    }

    @Test("a secret of one type is not in the error of another")
    func secret() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { _, _ in .delay(.seconds(1), then: .fail(.cannotFindHost))
            }
            let service = AnyHttpService(coalescingOn: transport, clock)
            async let loose = LooseGet().result(with: service)
            try await clock.sleep(for: .milliseconds(10))
            async let secret = SecretGet().result(with: service)
            let error = await secret.error
            let printed =
                "\(error!) \(error!.trace) \(String(reflecting: error!)) \(error!.request.map { "\($0)" } ?? "")"
            #expect(!printed.contains("tok123"), "\(printed)")
            _ = await loose
        }
    }

    @Test("a status that one request accepts, and another of its type does not")
    func acceptedStatus() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { _, _ in
                .delay(.seconds(1), then: .reply(status: 404, text: "none"))
            }
            let service = AnyHttpService(coalescingOn: transport, clock)
            async let strict = Ping.get.result(with: service)
            try await clock.sleep(for: .milliseconds(10))
            async let lenient = Ping(acceptedStatusCodes: [.success, 404]).result(with: service)
            #expect(text(await lenient) == "none")
            _ = await strict
        }
    }

    @Test("a status that fifty calls accept and fifty do not is asked for twice")
    func acceptedByMany() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { _, _ in
                .delay(.seconds(1), then: .reply(status: 404, text: "none"))
            }
            let service = AnyHttpService(coalescingOn: transport, clock)
            let results = await atOnce(100) { index in
                await Ping(acceptedStatusCodes: index % 2 == 0 ? .success : [.success, 404]).result(with: service)
            }
            #expect(results.count { $0.text == "none" } == 50)
            #expect(transport.count <= 2)
        }
    }
}

/// Asks for German in the first call, and for French in all others, unseen by what is further out.
private func germanFirst() -> Changing {
    let first = Locked<UInt64?>(nil)
    return Changing { request, context in
        let isFirst = first.withLock { first in
            first = first ?? context.call.id
            return first == context.call.id
        }
        request.header[.acceptLanguage] = isFirst ? "de" : "fr"
    }
}
