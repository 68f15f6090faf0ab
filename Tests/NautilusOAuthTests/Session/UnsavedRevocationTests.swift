import Nautilus
import NautilusOAuth
import NautilusSessions
import Testing

@Suite("Of a session that is over, the newest credential is revoked")
struct UnsavedRevocationTests {
    @Test(
        "a renewed credential that could not be saved is revoked, and not its predecessor, which is stored",
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
}
