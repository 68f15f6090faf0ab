import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

/// What has happened elsewhere while a process could not write comes later than what the process has to write.
@Suite("Changes by other processes while the store fails")
struct FailingWriterTests {
    @Test(
        "an end elsewhere ends the session here once a look shows it, though nothing can be saved",
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

    @Test("a credential is not sent if its user has signed out elsewhere just before the note")
    func signedOutBeforeSending() async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let (here, there) = (world.process(store: store), world.process())
            try await there.signIn(world.server.signIn("anna", at: world.date))
            try await here.restore()
            try await world.sleep(.seconds(3600))
            store.set { operation in
                if operation == .save { there.signOutNow() }
                return operation == .save ? .init(before: .seconds(1)) : .ok
            }
            #expect(await world.call(here).token == nil)
            #expect(world.server.refreshes == [])
        }
    }

    @Test(
        "a later user elsewhere is not replaced by a sign-in that could not be saved for minutes",
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

    @Test("a later user elsewhere is not signed out by a sign-out that found nobody", arguments: [true, false])
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
        "a credential that was refreshed elsewhere is revoked, though the store fails here",
        arguments: [true, false],
        [true, false]
    )
    func refreshedBeforeRevocation(showsLatest: Bool, signsIn: Bool) async throws {
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

    @Test("a later user elsewhere stays, though a sign-in here emptied the store before", arguments: [true, false])
    func laterUserAfterRemoval(isDamaged: Bool) async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let here = world.process(store: store)
            let error: CredentialStoreError = isDamaged ? .damaged(place: "record") : .notPermitted(place: "record")
            store.set { operation in
                switch operation {
                case .load, .version: .fails(error)
                case .save: .fails()
                default: .ok
                }
            }
            try? await here.signIn(world.server.signIn("anna", at: world.date), revokingReplaced: true)
            #expect(store.count(of: .delete) == 1)
            try await world.sleep(.milliseconds(300))
            let there = world.process()
            try await there.signIn(world.server.signIn("bert", at: world.date))
            try await world.sleep(.seconds(60))
            #expect(store.count(of: .delete) == 1)
            store.mend()
            try await world.sleep(.seconds(100))
            #expect(world.server.revoked == [])
            #expect(await world.call(there).token == "bert-1")
            #expect(await world.call(here).token == "bert-1")
        }
    }

    @Test(
        "a later user elsewhere stays, though an end here is meant for the unread user before",
        arguments: [true, false]
    )
    func laterUserAfterUnread(isSignOut: Bool) async throws {
        try await TokenWorld.run { world in
            let store = FaultStore(world)
            let here = world.process(store: store)
            store.set { $0 == .lock ? .ok : .fails(.notPermitted(place: "record")) }
            try? await here.signIn(world.server.signIn("anna", at: world.date))
            if isSignOut {
                try? await here.signOut()
            } else {
                world.server.endSessions()
                #expect(await world.call(here).token == nil)
            }
            try await world.sleep(.seconds(600))
            let there = world.process()
            // The lock is kept here, so that nobody is stored unnoticed.
            let error = await #expect(throws: SessionError.self) {
                try await there.signIn(world.server.signIn("bert", at: world.date))
            }
            #expect(error?.kind == .lockTimeout(.seconds(30)))
            store.mend()
            try await world.sleep(.seconds(200))
            #expect(await world.call(there).token == "bert-1")
            #expect(await world.call(world.process()).token == "bert-1")
            #expect(world.store.lock(world.key) != nil)
        }
    }

    /// The end of a sign-in that has not found yet whom it replaces.
    enum Overtaking: CaseIterable { case signOut, signIn, laterSignIn }

    @Test(
        "the replaced user is revoked if all sign-ins ask for it, though one is overtaken",
        arguments: Overtaking.allCases,
        [[true, true], [true, false], [false, true]]
    )
    func overtaken(by overtaking: Overtaking, asks: [Bool]) async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("xaver")
            let store = FaultStore(world)
            let here = world.process(store: store)
            store.set { operation in
                if overtaking == .laterSignIn { return operation == .lock ? .ok : .fails() }
                return operation == .load ? .init(after: .seconds(5)) : .ok
            }
            let anna = world.server.signIn("anna", at: world.date)
            let bert = world.server.signIn("bert", at: world.date)
            let signIn = BackgroundTask.start { try? await here.signIn(anna, revokingReplaced: asks[0]) }
            try await world.sleep(.seconds(1))
            if overtaking == .laterSignIn { store.mend() }
            if overtaking == .signOut {
                try? await here.signOut()
            } else {
                try? await here.signIn(bert, revokingReplaced: asks[1])
            }
            await signIn.value
            try await world.sleep(.seconds(200))
            #expect(world.storedToken == (overtaking == .signOut ? nil : "bert-1"))
            let isSignOut = overtaking == .signOut
            let revoked = [
                asks[0] && (isSignOut || asks[1]) ? "xaver-1" : nil,
                isSignOut || asks[1] ? "anna-1" : nil,
            ]
            #expect(world.server.revoked.sorted(by: >) == revoked.compactMap(\.self))
        }
    }
}
