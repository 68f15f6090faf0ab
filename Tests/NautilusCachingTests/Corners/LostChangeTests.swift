import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("A repeated change whose first answer was lost", .endsInTime)
struct LostChangeTests {
    @Test("a cache forgets what a DELETE has removed whose second answer is 404", arguments: [false, true])
    func cache(accepts: Bool) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let isDeleted = Locked(false)
            let world = CacheWorld(clock: clock, retrier: steadyBackoff()) { request, context in
                if request.method == .delete {
                    let was = isDeleted.withLock { state in
                        defer { state = true }; return state
                    }
                    return was ? .status(404) : .fail(.networkConnectionLost)
                }
                return isDeleted.withLock { $0 }
                    ? .status(410) : .reply(header: ["Cache-Control": "max-age=600"], text: "note")
            }
            #expect(await world.get() == "200 note")
            if accepts {
                #expect(await world.get(method: .delete) == "404")
            } else {
                let result = await Ping(method: .delete).result(with: world.service)
                #expect(text(result) == "status 404")
            }
            #expect(await world.get() == "status 410")
        }
    }

    @Test("coalescing parts those who come after it")
    func coalescing() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let isDeleted = Locked(false)
            let transport = ScriptedTransport(clock: clock) { request, _ in
                if request.method == .delete {
                    let was = isDeleted.withLock { state in
                        defer { state = true }; return state
                    }
                    return was ? .status(404) : .fail(.networkConnectionLost)
                }
                return .delay(.seconds(5), then: .reply(text: isDeleted.withLock { $0 } ? "gone" : "note"))
            }
            let service = AnyHttpService(coalescingOn: transport, clock, retrierFactory: steadyBackoff())
            async let old = Ping.get.result(with: service)
            try await clock.sleep(for: .milliseconds(10))
            _ = await Ping(method: .delete).result(with: service)
            async let new = Ping.get.result(with: service)
            #expect(text(await new) == "gone")
            _ = await old
        }
    }
}
