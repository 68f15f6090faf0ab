import Foundation
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("A save that arrives under a lost lock")
struct LateArrivalTests {
    /// Two processes whose user's credential has expired, the first over a store in which a save takes 20 s.
    private static func slowStore(
        in world: TokenWorld
    ) async throws -> (store: FaultStore, here: Session<ApiToken>, there: Session<ApiToken>) {
        let store = FaultStore(world)
        let (here, there) = (world.process(store: store), world.process())
        try await here.signIn(world.server.signIn("anna", at: world.date))
        try await there.restore()
        try await world.sleep(.seconds(3600))
        store.set { $0 == .save ? .init(before: .seconds(20)) : .ok }
        return (store, here, there)
    }

    @Test("a late save after a sign-out and a sign-in elsewhere ends neither session")
    func nextUserDuringSave() async throws {
        try await TokenWorld.run { world in
            let (store, here, there) = try await Self.slowStore(in: world)
            async let call = world.call(here)
            try await world.sleep(.seconds(1))
            store.loseLocks()
            try await there.signOut()
            try await world.sleep(.seconds(3))
            try await there.signIn(world.server.signIn("bert", at: world.date))
            #expect(await call.token == nil)
            store.mend()
            try await world.sleep(.seconds(120))
            #expect(world.storedToken == "bert-1")
            try await here.restore()
            for process in [here, there, world.process()] { #expect(await world.call(process).token == "bert-1") }
        }
    }

    @Test("a late save after a refresh elsewhere does not have the old credential sent again")
    func refreshedDuringNote() async throws {
        try await TokenWorld.run { world in
            let (store, here, there) = try await Self.slowStore(in: world)
            async let call = world.call(here)
            try await world.sleep(.seconds(1))
            store.loseLocks()
            #expect(await world.call(there).token == "anna-2")
            _ = await call
            store.mend()
            try await world.sleep(.seconds(60))
            #expect(await world.call(here).token == "anna-2")
            #expect(await world.call(there).token == "anna-2")
            #expect(world.server.refreshes == ["anna-1"])
        }
    }
}
