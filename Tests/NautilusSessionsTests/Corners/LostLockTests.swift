import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusSessions

/// In each of them an app's extension has lost the lock, as iOS takes it from a process that it suspends.
@Suite("A lock that is lost while it is held")
struct LostLockTests {
    @Test("the credential of a refresh whose user has signed out meanwhile is revoked instead of saved")
    func signedOutMeanwhile() async throws {
        try await TokenWorld.run { world in
            let store = LosableStore(world.store)
            let (app, other) = (try await world.signedIn(), world.process(store: store))
            try await other.restore()
            try await world.sleep(.seconds(3_600))
            async let call = world.call(other)
            try await world.sleep(.milliseconds(50))
            #expect(world.server.refreshes == ["anna-1"])
            store.loseLocks()
            try await app.signOut()
            #expect(world.store.version(of: world.key) == nil, "no note of the end is left either")

            guard case .signedOut? = await call.refreshError else {
                Issue.record("\(await call)")
                return
            }
            try await world.sleep(.seconds(60))
            #expect(world.store.load(world.key) == nil)
            #expect(!other.isSignedIn)
            #expect(world.server.carried.isEmpty)
            #expect(world.server.revoked == ["anna-1", "anna-2"])
        }
    }

    @Test("after a lost lock, another process's refreshed credential is kept, and not one's own")
    func refreshedMeanwhile() async throws {
        try await TokenWorld.run { world in
            let store = LosableStore(world.store)
            let (app, other) = (try await world.signedIn(), world.process(store: store))
            try await other.restore()
            let stored = try #require(world.store.load(world.key))
            try await world.sleep(.seconds(3_600))
            async let call = world.call(other)
            try await world.sleep(.milliseconds(50))
            store.loseLocks()
            let newer = world.server.signIn("anna-newer", at: world.date)
            world.store.save(
                try StoredCredential(
                    session: stored.session,
                    number: stored.number,
                    refreshCount: 1,
                    credential: newer
                ),
                for: world.key
            )
            #expect(await call.token == newer.value)
            #expect(other.current?.credential == newer)
            #expect(await world.call(app).token == newer.value)
            #expect(try world.store.load(world.key)?.credential() == newer)
        }
    }

    @Test("after a lost lock, a refreshed credential is saved if nothing else has happened meanwhile")
    func nothingMeanwhile() async throws {
        try await TokenWorld.run { world in
            let store = LosableStore(world.store)
            _ = try await world.signedIn()
            let other = world.process(store: store)
            try await other.restore()
            try await world.sleep(.seconds(3_600))
            async let call = world.call(other)
            try await world.sleep(.milliseconds(50))
            store.loseLocks()
            #expect(await call.token == "anna-2")
            #expect(try world.store.load(world.key)?.credential(as: ApiToken.self).value == "anna-2")
            #expect(world.store.load(world.key)?.unanswered == 0)
            #expect(world.store.lock(world.key) != nil)
        }
    }

    @Test("a refresh that could not be saved gives way to what another process has refreshed since")
    func unsaved() async throws {
        try await TokenWorld.run { world in
            world.server.grantGrace()
            let store = LosableStore(world.store)
            let (app, other) = (try await world.signedIn(), world.process(store: store))
            try await other.restore()
            try await world.sleep(.seconds(3_600))
            store.failSaves(with: .full(place: "disk"))
            #expect(await world.call(other).token == "anna-2")
            #expect(world.store.lock(world.key) == nil, "it is kept, so that nobody spends the old one")
            store.loseLocks()
            #expect(await world.call(app).token == "anna-2")
            try await world.sleep(.seconds(3_600))
            #expect(await world.call(app).token == "anna-3")
            store.failSaves(with: nil)
            try await world.sleep(.seconds(60))
            #expect(try world.store.load(world.key)?.credential(as: ApiToken.self).value == "anna-3")
            #expect(await world.call(other).token == "anna-3")
            #expect(world.server.refreshes == ["anna-1", "anna-1", "anna-2"])
        }
    }

    @Test("a credential is neither noted nor sent where the lock has gone before")
    func beforeSending() async throws {
        try await TokenWorld.run { world in
            let store = LosableStore(world.store)
            let (app, other) = (try await world.signedIn(), world.process(store: store))
            try await other.restore()
            try await world.sleep(.seconds(3_600))
            let lock = world.store.lock(world.key)
            async let call = world.call(other)
            try await world.sleep(.milliseconds(1))
            // It looks once more when it has the lock.
            store.afterNextLoad {
                store.loseLocks()
                #expect(await world.call(app).token == "anna-2")
            }
            lock?.unlock()
            _ = await call
            #expect(try world.store.load(world.key)?.credential(as: ApiToken.self).value == "anna-2")
            #expect(world.store.load(world.key)?.unanswered == 0)
            #expect(world.server.refreshes == ["anna-1"])
            try await world.sleep(.seconds(60))
            #expect(await world.call(other).token == "anna-2")
        }
    }

    @Test("a removal does not hit the user who has signed in since")
    func removal() async throws {
        try await TokenWorld.run { world in
            let store = LosableStore(world.store)
            let (app, other) = (try await world.signedIn(), world.process(store: store))
            try await other.restore()
            store.afterNextLoad {
                store.loseLocks()
                try? await app.signIn(world.server.signIn("bert", at: world.date))
            }
            _ = try? await other.signOut()
            try await world.sleep(.seconds(60))
            #expect(try world.store.load(world.key)?.credential(as: ApiToken.self).value == "bert-1")
            #expect(await world.call(app).token == "bert-1")
            try await other.restore()
            #expect(await world.call(other).token == "bert-1")
        }
    }
    @Test("a save that was on its way when the lock went does not take back what has been refreshed here since")
    func duringSave() async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let here = world.process(store: store)
            try await here.signIn(world.server.signIn("anna", at: world.date))
            try await world.sleep(.seconds(3600))
            store.set { $0 == .save ? .fails() : .ok }
            #expect(await world.call(here).token == "anna-2")
            store.set { $0 == .save ? .init(before: .seconds(20)) : .ok }
            // Saving is tried again by now.
            try await world.sleep(.seconds(5))
            store.loseLocks()
            world.server.reject("anna-2")
            #expect(await world.call(here).token == "anna-3")
            store.mend()
            try await world.sleep(.seconds(100))
            #expect(here.current?.credential.value == "anna-3")
            #expect(world.storedToken == "anna-3")
            #expect(await world.call(here).token == "anna-3")
            #expect(world.server.refreshes == ["anna-1", "anna-2"])
            #expect(world.store.lock(world.key) != nil)
        }
    }

    @Test("a late save of a sign-in whose lock was lost does not undo a later refresh")
    func duringSignIn() async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let here = world.process(store: store)
            store.set { $0 == .save ? .init(before: .seconds(20)) : .ok }
            let anna = world.server.signIn("anna", at: world.date)
            let signIn = BackgroundTask.start { try? await here.signIn(anna) }
            try await world.sleep(.seconds(5))
            store.loseLocks()
            world.server.reject("anna-1")
            #expect(await world.call(here).token == "anna-2")
            store.mend()
            await signIn.value
            try await world.sleep(.seconds(100))
            #expect(here.current?.credential.value == "anna-2")
            #expect(world.storedToken == "anna-2")
            #expect(await world.call(here).token == "anna-2")
            #expect(world.server.refreshes == ["anna-1"])
            #expect(world.store.lock(world.key) != nil)
        }
    }

    /// Two processes: the refresh here is saved late, under a lock that is lost, and meanwhile there has been another.
    private static func lateRefresh(
        in world: TokenWorld
    ) async throws -> (store: FaultStore, here: Session<ApiToken>, there: Session<ApiToken>) {
        let store = FaultStore(world)
        let (here, there) = (world.process(store: store), world.process())
        try await here.signIn(world.server.signIn("anna", at: world.date))
        world.server.grantGrace()
        try await world.sleep(.seconds(3600))
        store.set { $0 == .save ? .fails() : .ok }
        #expect(await world.call(here).token == "anna-2")
        store.set { $0 == .save ? .init(before: .seconds(20)) : .ok }
        try await world.sleep(.seconds(5))
        store.loseLocks()
        // The answer to the one who is late.
        #expect(await world.call(there).token == "anna-2")
        world.server.reject("anna-2")
        #expect(await world.call(there).token == "anna-3")
        return (store, here, there)
    }

    @Test("a save that comes after another process's refresh is made good by the process that knows of it")
    func overRefresh() async throws {
        try await TokenWorld.run { world in
            let (store, here, _) = try await Self.lateRefresh(in: world)
            #expect(await world.call(here).token == "anna-3")
            store.mend()
            try await world.sleep(.seconds(100))
            #expect(world.storedToken == "anna-3")
            #expect(await world.call(world.process()).token == "anna-3")
            #expect(world.server.refreshes == ["anna-1", "anna-1", "anna-2"])
            #expect(world.store.lock(world.key) != nil)
        }
    }

    @Test("a save that comes after another process's refresh is made good by that process, if the late one cannot look")
    func overUnknownRefresh() async throws {
        try await TokenWorld.run { world in
            let (store, here, there) = try await Self.lateRefresh(in: world)
            // Nor can it look.
            store.failReads(and: { $0 == .save ? .init(before: .seconds(20)) : .ok })
            try await world.sleep(.seconds(30))
            #expect(world.storedToken == "anna-2")
            store.mend()
            #expect(await world.call(there).token == "anna-3")
            try await world.sleep(.seconds(100))
            #expect(world.storedToken == "anna-3")
            #expect(await world.call(here).token == "anna-3")
            #expect(world.server.refreshes == ["anna-1", "anna-1", "anna-2"])
            #expect(world.store.lock(world.key) != nil)
        }
    }

    @Test(
        "a save that comes after a sign-out elsewhere brings nobody back, nor does it take a later user's place",
        arguments: [true, false],
        [1, 2]
    )
    func signedOutDuringSave(isReplaced: Bool, save: Int) async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let (here, there) = (world.process(store: store), world.process())
            try await here.signIn(world.server.signIn("anna", at: world.date))
            try await there.restore()
            try await world.sleep(.seconds(3600))
            let saves = Locked(0)
            store.set { operation in
                guard operation == .save else { return .ok }
                let isMeant = saves.withLock { saves in
                    saves += 1
                    return saves == save
                }
                return isMeant ? .init(before: .seconds(5)) : .ok
            }
            async let call = world.call(here)
            try await world.sleep(.seconds(1))
            store.loseLocks()
            if isReplaced {
                try await there.signIn(world.server.signIn("bert", at: world.date))
            } else {
                try await there.signOut()
            }
            let after = isReplaced ? "bert-1" : nil
            #expect(await call.token == nil)
            try await world.sleep(.seconds(60))
            #expect(world.storedToken == after)
            #expect(await world.call(world.process()).token == after)
            #expect(await world.call(here).token == after)
        }
    }

    @Test("a lock that has gone before the note is not the store's failure")
    func beforeNote() async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let other = world.process(store: store)
            _ = try await world.signedIn()
            try await other.restore()
            let events = world.storeEvents(of: other)
            try await world.sleep(.seconds(3_600))
            store.set { operation in
                // After the look with the lock held.
                if operation == .load { BackgroundTask.start { store.loseLocks() } }
                return operation == .load ? .init(after: .seconds(1)) : .ok
            }
            let outcome = await world.call(other)
            #expect(outcome.sessionKind == .lockLost)
            #expect(world.server.refreshes == [])
            #expect(events.withLock { $0 } == [])
        }
    }

    @Test("a credential is not sent where the lock has gone while the note of that was being written")
    func duringNote() async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let (app, other) = (try await world.signedIn(), world.process(store: store))
            try await other.restore()
            try await world.sleep(.seconds(3_600))
            store.set { $0 == .save ? .init(after: .seconds(5)) : .ok }
            async let call = world.call(other)
            try await world.sleep(.seconds(1))
            store.loseLocks()
            #expect(await world.call(app).token == "anna-2")
            _ = await call
            try await world.sleep(.seconds(60))
            #expect(await world.call(other).token == "anna-2")
            #expect(world.server.refreshes == ["anna-1"])
        }
    }
}
