import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A gate that calls share")
struct RetryGateTests {
    /// Runs calls one second apart against one transport, with backoff behind a shared gate.
    private func traces(of requests: [Ping], _ replies: @escaping @Sendable (String) -> ScriptedReply) async throws
        -> [CallTrace]
    {
        try await simulate { simulation in
            let clock = simulation.clock
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: steadyBackoff(maxAttempts: 2, gate: OriginPauses(clock: clock)),
                transport: ScriptedTransport(clock: clock) { request, context in
                    context.number == 1 ? replies(request.url.path) : .reply(text: "ok")
                },
                clock: clock
            )
            return await withTaskGroup(of: (Int, CallTrace).self) { group in
                for (index, request) in requests.enumerated() {
                    group.addTask {
                        try? await clock.sleep(for: .seconds(index))
                        do throws(HttpError) {
                            return (index, try await request.response(with: service).trace)
                        } catch {
                            return (index, error.trace)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
            }
        }
    }

    @Test("a Retry-After that one call hears holds back the retries of the others, and no first attempt")
    func shared() async throws {
        let traces = try await traces(of: [Ping(route: ["limited"]), .get, Ping(route: ["fine"])]) { path in
            switch path {
            case "/limited": .status(429, header: ["Retry-After": "10"])
            case "/fine": .reply(text: "ok")
            default: .status(500)
            }
        }
        #expect(traces[0].attempts[1].start == .seconds(10))
        // It began at 1 s on the clock, and its retry waits until 10 s.
        #expect(traces[1].attempts[0].decision?.reason == .gate(.seconds(9)))
        let start = try #require(traces[1].attempts.last).start
        #expect((.milliseconds(9_020)...(.milliseconds(9_040))).contains(start), "it takes the slot after the first")
        #expect(traces[2].attempts.count == 1)
    }

    /// Notes what it waits for.
    private struct Noting: Retrier {
        let passed: Locked<[URL]>

        mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { true }
        mutating func beforeRetry(of request: HttpRequest) async throws { passed.withLock { $0.append(request.url) } }
    }

    @Test("a retry waits at its gate also when the attempt before could not be built")
    func notBuilt() async throws {
        let (passed, reads) = (Locked<[URL]>([]), Counter())
        let transport = ScriptedTransport(.reply(text: "ok"))
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: AnyRetrierFactory { Noting(passed: passed) },
            transport: transport
        ).with {
            $0.asyncHeader = {
                if reads.increment() == 1 { throw URLError(.notConnectedToInternet) }
                return [:]
            }
        }
        _ = try await Ping(route: ["things"]).schedule(with: service)
        #expect(passed.withLock { $0.map(\.absoluteString) } == ["https://api.example.com/things"])
    }

    @Test("a retry waits at the gate of the origin to which an interceptor has sent the attempt before")
    func sentElsewhere() async throws {
        let passed = Locked<[URL]>([])
        let moved = try #require(URL(string: "https://other.example.com/things"))
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [
                ClosureInterceptor { request, _, next in
                    var request = request
                    request.url = moved
                    return try await next(request)
                }
            ],
            retrierFactory: AnyRetrierFactory { Noting(passed: passed) },
            transport: ScriptedTransport(.status(503), .reply(text: "ok"))
        )
        _ = try await Ping(route: ["things"]).schedule(with: service)
        #expect(passed.withLock { $0 } == [moved])
    }

    @Test("a Retry-After over the cap holds the other calls back for as long as the cap")
    func overCap() async throws {
        let traces = try await traces(of: [Ping(route: ["limited"]), .get]) { path in
            path == "/limited" ? .status(429, header: ["Retry-After": "3600"]) : .status(500)
        }
        #expect(traces[0].attempts.count == 1)
        #expect(traces[1].attempts[0].decision?.reason == .gate(.seconds(59)))
    }

    @Test("a Retry-After of another origin, after a redirect, holds back no call to this one")
    func redirected() async throws {
        let traces = try await traces(of: [Ping(route: ["limited"]), .get]) { path in
            switch path {
            case "/limited": .status(302, header: ["Location": "https://cdn.example.com/"])
            case "/": .status(429, header: ["Retry-After": "10"])
            default: .status(500)
            }
        }
        #expect(traces[0].attempts[0].decision?.reason == .retryAfter(.seconds(10)))
        #expect(traces[1].attempts[0].decision?.reason == .backoff(retry: 1))
    }
}
