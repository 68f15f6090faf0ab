import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Scopes of calls that begin one another")
struct CallScopeChainTests {
    // Unchecked: it is only asked whether the object still exists.
    private struct Weak: @unchecked Sendable {
        weak let scope: AnyObject?
    }

    /// Begins the next call while this one has not quite ended.
    private struct Polling: ServiceHook {
        let poll: @Sendable () async -> Void
        func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async { await poll() }
    }

    @Test("calls that begin just before the one before ends do not keep all that were before")
    func chain() async throws {
        let alive = try await Self.poll(100)
        #expect(alive <= 2)
    }

    /// How many scopes of `count` calls are still there while the last one is made.
    static func poll(_ count: Int) async throws -> Int {
        let scopes = Locked<[Weak]>([])
        return try await simulate { simulation in
            let clock = simulation.clock
            let left = Locked(count)
            let alive = Locked(-1)
            let transport = ScriptedTransport(.reply(text: "ok"), afterLast: .repeat)
            @Sendable func next() async {
                let goesOn = left.withLock { left in
                    left -= 1
                    return left >= 0
                }
                guard goesOn else {
                    // All but the last have ended long ago.
                    try? await clock.sleep(for: .seconds(1))
                    alive.withLock { $0 = scopes.withLock { $0.count { $0.scope != nil } } }
                    return
                }
                let noting = ClosureInterceptor { request, _, next in
                    if let scope = CallScope.current { scopes.withLock { $0.append(Weak(scope: scope.object)) } }
                    return try await next(request)
                }
                let service = AnyHttpService(
                    apiUrl: "api.example.com",
                    interceptors: [noting],
                    transport: transport,
                    clock: clock
                ).with {
                    $0.hook = Polling {
                        simulation.start { await next() }
                        try? await clock.sleep(for: .milliseconds(1))
                    }
                }
                _ = try? await Ping.get.schedule(with: service)
            }
            simulation.start { await next() }
            while alive.withLock({ $0 }) < 0 { try await clock.sleep(for: .seconds(1)) }
            return alive.withLock { $0 }
        }
    }
}
