import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

/// What has happened elsewhere while a process could not write comes later than what the process has to write.
@Suite("What happens elsewhere while the store fails here")
struct FailingWriterTests {
    @Test(
        "ends the session here as soon as a look shows that, though nothing can be saved",
        arguments: [true, false]
    )
    func signedOut(losesLock: Bool) async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let (here, there) = (world.process(store: store), world.process())
            try await there.signIn(world.server.signIn("anna", at: world.date))
            try await here.restore()
            try await world.sleep(.seconds(3600))
            let (saves, versions) = (Locked(0), Locked(0))
            store.set { operation in
                switch operation {
                case .save:
                    let isFirst = saves.withLock { saves in
                        saves += 1
                        return saves == 1
                    }
                    guard isFirst else { return .fails() }
                    // The user signs out there as the credential is noted here.
                    if let stored = world.store.load(world.key) { world.store.end(stored.session, for: world.key) }
                    there.signOutNow()
                    return .ok
                // Only the look fails that comes after the one at what was saved.
                case .version where saves.withLock { $0 } == 1:
                    let looks = versions.withLock { versions in
                        versions += 1
                        return versions
                    }
                    return looks == 2 ? .fails(.other(type: "ConnectionLost")) : .ok
                default: return .ok
                }
            }
            _ = await world.call(here)
            if losesLock { store.loseLocks() }
            try await world.sleep(.seconds(60))
            #expect(await world.call(here).token == nil)
            #expect(!here.isSignedIn)
            store.mend()
            try await world.sleep(.seconds(100))
            #expect(await world.call(here).token == nil)
            #expect(world.storedToken == nil)
        }
    }

    @Test(
        "lets a later user stay, whom a sign-in that could not be saved for minutes does not replace",
        arguments: [true, false]
    )
    func laterUser(showsLatest: Bool) async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world, showsLatest: showsLatest)
            let here = world.process(store: store)
            store.set { [.save, .lock].contains($0) ? .fails() : .ok }
            try? await here.signIn(world.server.signIn("anna", at: world.date), revokingReplaced: true)
            try await world.sleep(.seconds(600))
            #expect(await world.call(here).token == "anna-1")
            let there = world.process(store: FaultStore(world, showsLatest: showsLatest))
            try await there.signIn(world.server.signIn("bert", at: world.date))
            store.mend()
            try await world.sleep(.seconds(100))
            #expect(world.server.revoked == [])
            #expect(await world.call(there).token == "bert-1")
            #expect(await world.call(here).token == "bert-1")
        }
    }

    @Test("lets a later user stay, for whom a sign-out that found nobody is not meant", arguments: [true, false])
    func laterUserAfterSignOut(showsLatest: Bool) async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world, showsLatest: showsLatest)
            let here = world.process(store: store)
            store.set { $0 == .lock ? .fails() : .ok }
            try? await here.signOut()
            try await world.sleep(.seconds(600))
            let there = world.process(store: FaultStore(world, showsLatest: showsLatest))
            try await there.signIn(world.server.signIn("bert", at: world.date))
            store.mend()
            try await world.sleep(.seconds(100))
            #expect(world.server.revoked == [])
            #expect(await world.call(there).token == "bert-1")
        }
    }

    @Test(
        "does not keep a credential from being revoked that was renewed there",
        arguments: [true, false],
        [true, false]
    )
    func renewedBeforeRevocation(showsLatest: Bool, signsIn: Bool) async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world, showsLatest: showsLatest)
            let (here, there) = (world.process(store: store), world.process())
            try await there.signIn(world.server.signIn("anna", at: world.date))
            try await here.restore()
            try await world.sleep(.seconds(3600))
            #expect(await world.call(there).token == "anna-2")
            store.set { _ in .fails(.notPermitted(place: "record")) }
            if signsIn {
                try? await here.signIn(world.server.signIn("bert", at: world.date), revokingReplaced: true)
            } else {
                try? await here.signOut()
            }
            store.mend()
            try await world.sleep(.seconds(200))
            #expect(world.storedToken == (signsIn ? "bert-1" : nil))
            #expect(world.server.revoked == ["anna-1", "anna-2"])
        }
    }
}
