import NautilusTesting
import TestSupport
import Testing

@testable import NautilusSessions

@Suite("A sign-in in another process during a refresh", .endsInTime)
struct ReplacedElsewhereTests {
    /// A store in which a look takes no time, and the end of a session 50 ms.
    private struct SlowEnds: StoreInFront {
        let base: MemoryStore
        let clock: ManualClock

        func pass(_ operation: StoreOperation) async throws {
            if operation == .end { try await clock.sleep(for: .milliseconds(50)) }
        }
    }

    @Test(
        "F22: a sign-in elsewhere that revokes whom it replaces revokes what a refresh here has saved meanwhile",
        arguments: [true, false]
    )
    func revokesLatest(isKnown: Bool) async throws {
        try await TokenWorld.run { world in
            let here = try await world.signedIn()
            let there = world.process(store: SlowEnds(base: world.store, clock: world.clock))
            if isKnown { try await there.restore() }
            world.server.reject("anna-1")
            // The refresh takes 100 ms: it is saved between the look there, at 80 ms, and the end, at 130 ms.
            async let call = world.call(here)
            try await world.sleep(.milliseconds(80))
            try await there.signIn(world.server.signIn("bert", at: world.date), revokingReplaced: true)
            _ = await call
            try await world.sleep(.seconds(200))
            #expect(world.server.revoked == ["anna-2"])
            #expect(world.server.refreshes == ["anna-1"])
        }
    }
}
