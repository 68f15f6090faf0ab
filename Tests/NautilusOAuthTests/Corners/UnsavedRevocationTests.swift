import Nautilus
import NautilusOAuth
import NautilusSessions
import TestSupport
import Testing

@Suite("The newest credential of an ended session")
struct UnsavedRevocationTests {
    @Test(
        "a refreshed credential that could not be saved is revoked, and not its predecessor, which is stored",
        arguments: [true, false]
    )
    func unsaved(isReplaced: Bool) async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            try await world.sleep(.seconds(3_600))
            world.store.failSaves(with: .full(place: "disk"))
            #expect(await world.call(session).isOk)
            #expect(world.server.carried == ["anna-a2"])
            world.store.failSaves(with: nil)
            if isReplaced {
                try await session.signIn(world.server.signIn("bert", at: world.date), revokingReplaced: true)
                try await world.sleep(.seconds(1))
            } else {
                try await session.signOut()
            }
            #expect(world.server.revoked == ["anna-r2", "anna-a2"])
        }
    }

    @Test("a credential that could not be saved is revoked when another process signs out")
    func unsavedElsewhere() async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            try await second.restore()
            try await world.sleep(.seconds(3_600))
            world.store.failSaves(with: .full(place: "disk"))
            #expect(await world.call(first).isOk)
            world.store.failSaves(with: nil)
            async let signOut: Void = second.signOut()
            try await world.sleep(.milliseconds(1))
            #expect(!(await world.call(first).isOk))
            try await signOut
            try await world.sleep(.seconds(60))
            #expect(world.server.revoked == ["anna-r1", "anna-a1", "anna-r2", "anna-a2"])
            #expect(try await world.stored(first) == nil)
        }
    }
}
