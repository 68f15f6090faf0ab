import Nautilus
import NautilusOAuth
import NautilusSessions
import TestSupport
import Testing

@Suite("A store that fails")
struct FailingStoreTests {
    private static let full = CredentialStoreError.full(place: "disk")

    @Test("a rotated token that cannot be saved is kept in memory, told once, and saved as soon as that works")
    func fullDisk() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let events = EventLog(session)
            world.store.failSaves(with: Self.full)
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).isOk)
            #expect(try await world.stored(session)?.credential.refreshToken == "anna-r1")
            let error = await EndpointFixture.error { () async throws(SessionError) in try await session.flush() }
            #expect(error?.kind == .store(Self.full))
            world.store.failSaves(with: nil)
            try await world.sleep(.seconds(60))
            #expect(try await world.stored(session)?.credential.refreshToken == "anna-r2")
            #expect(await events.names(3) == ["storeFailed", "refreshed", "storeRecovered"])
        }
    }

    @Test("the next refresh spends the token in memory, never again the old one of the store")
    func spendsNewest() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.store.failSaves(with: Self.full)
            for _ in 0..<3 {
                try await world.sleep(.seconds(3600))
                #expect(await world.call(session).isOk)
            }
            #expect(world.server.spent == ["anna-r1", "anna-r2", "anna-r3"])
            #expect(world.server.reuses == 0)
            world.store.failSaves(with: nil)
            try await session.flush()
            #expect(try await world.stored(session)?.credential.refreshToken == "anna-r4")
        }
    }

    @Test("until a refresh is saved, the lock is kept: no other process spends the old token")
    func keepsLock() async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            world.store.failSaves(with: Self.full)
            try await world.sleep(.seconds(3600))
            #expect(await world.call(first).isOk)
            #expect(await world.call(second).sessionKind == .lockTimeout(.seconds(30)))
            world.store.failSaves(with: nil)
            try await first.flush()
            try await world.sleep(.seconds(60))
            #expect(await world.call(second).isOk)
            #expect(world.server.spent == ["anna-r1"])
            #expect(world.server.reuses == 0)
        }
    }

    @Test("a sign-in that cannot be saved counts in this process, and is told")
    func signIn() async throws {
        try await SessionWorld.run { world in
            let session = world.process()
            world.store.failSaves(with: Self.full)
            let credential = world.server.signIn("anna", at: world.date)
            let error = await EndpointFixture.error { () async throws(SessionError) in
                try await session.signIn(credential)
            }
            #expect(error?.kind == .store(Self.full))
            #expect(await world.call(session).isOk)
            world.store.failSaves(with: nil)
            try await world.sleep(.seconds(60))
            #expect(try await world.stored(session)?.credential.accessToken == "anna-a1")
        }
    }

    @Test("a sign-in that could not be saved is not overruled by the session that the store still has")
    func signInOverStored() async throws {
        try await SessionWorld.run { world in
            _ = try await world.signedIn()
            let session = world.process()
            world.store.failSaves(with: Self.full)
            let credential = world.server.signIn("bert", at: world.date)
            let error = await EndpointFixture.error { () async throws(SessionError) in
                try await session.signIn(credential)
            }
            #expect(error?.kind == .store(Self.full))
            for _ in 1...2 { #expect(await world.call(session).isOk) }
            #expect(world.server.carried == ["bert-a1", "bert-a1"])
        }
    }

    @Test("a user whose sign-in could not be saved is refreshed all the same, and saved as soon as that works")
    func refreshOfUnsavedSignIn() async throws {
        try await SessionWorld.run { world in
            _ = try await world.signedIn()
            let session = world.process()
            world.store.failSaves(with: Self.full)
            let credential = world.server.signIn("bert", at: world.date)
            try? await session.signIn(credential)
            for _ in 1...2 {
                try await world.sleep(.seconds(3600))
                #expect(await world.call(session).isOk)
            }
            #expect(world.server.spent == ["bert-r1", "bert-r2"])
            world.store.failSaves(with: nil)
            try await world.sleep(.seconds(60))
            #expect(try await world.stored(session)?.credential.refreshToken == "bert-r3")
            #expect(await world.call(world.process()).isOk)
        }
    }

    @Test("when the server ends a session whose sign-in could not be saved, the user before does not come back")
    func endOfUnsavedSignIn() async throws {
        try await SessionWorld.run { world in
            _ = try await world.signedIn()
            let session = world.process()
            world.store.failSaves(with: Self.full)
            try? await session.signIn(world.server.signIn("bert", at: world.date))
            world.server.endSession(of: "bert")
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).oauthKind == .invalidGrant)
            world.store.failSaves(with: nil)
            try await world.sleep(.seconds(60))
            for process in [world.process(), session] { #expect(!(await world.call(process).isOk)) }
            #expect(world.server.carried.isEmpty)
        }
    }

    @Test("a sign-out that cannot be stored counts in this process, and is carried out as soon as that works")
    func signOut() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.store.failSaves(with: .notPermitted(place: "folder"))
            let error = await EndpointFixture.error { () async throws(SessionError) in try await session.signOut() }
            #expect(error?.kind == .store(.notPermitted(place: "folder")))
            #expect(world.server.revoked == ["anna-r1", "anna-a1"])
            #expect(await world.call(session).refreshError.map { "\($0)" } == RefreshError.signedOut.description)
            world.store.failSaves(with: nil)
            try await world.sleep(.seconds(60))
            #expect(try await world.stored(session) == nil)
        }
    }

    @Test("a store that cannot be read at the start fails calls with its own error, and is asked again by the next")
    func unreadable() async throws {
        try await SessionWorld.run { world in
            _ = try await world.signedIn()
            let session = world.process()
            world.store.failLoads(with: .damaged(place: "file"))
            let result = await world.call(session)
            #expect(result.sessionKind == .store(.damaged(place: "file")))
            #expect(result.error?.kind == .authorization)
            let error = await EndpointFixture.error { () async throws(SessionError) in try await session.restore() }
            #expect(error?.kind == .store(.damaged(place: "file")))
            world.store.failLoads(with: nil)
            #expect(await world.call(session).isOk)
        }
    }

    @Test("a store that cannot be read later is told once, and calls go on with what is in memory")
    func unreadableLater() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let events = EventLog(session)
            world.store.failLoads(with: .notPermitted(place: "file"))
            for _ in 0..<3 { #expect(await world.call(session).isOk) }
            world.store.failLoads(with: nil)
            #expect(await world.call(session).isOk)
            #expect(await events.names(2) == ["storeFailed", "storeRecovered"])
        }
    }

    @Test("nothing is refreshed while the store cannot be read: another process may have spent the token")
    func unreadableAtRefresh() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.store.failLoads(with: .notPermitted(place: "file"))
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).sessionKind == .store(.notPermitted(place: "file")))
            #expect(world.server.tokenRequests == 0)
            world.store.failLoads(with: nil)
            try await world.sleep(.seconds(60))
            #expect(await world.call(session).isOk)
        }
    }

    @Test("with nothing to save, flushing asks nothing of the store")
    func nothingToFlush() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let saves = world.store.saves
            try await session.flush()
            #expect(world.store.saves == saves)
        }
    }

    @Test("a store that fails and recovers twice is told of twice, and each time everything is saved in the end")
    func twice() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let events = EventLog(session)
            for round in 2...3 {
                world.store.failSaves(with: Self.full)
                try await world.sleep(.seconds(3600))
                #expect(await world.call(session).isOk)
                world.store.failSaves(with: nil)
                try await world.sleep(.seconds(60))
                #expect(try await world.stored(session)?.credential.refreshToken == "anna-r\(round)")
            }
            let round = ["storeFailed", "refreshed", "storeRecovered"]
            #expect(await events.names(6) == round + round)
        }
    }

    @Test("a credential whose save was delayed is saved once")
    func savedOnce() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.store.failSaves(with: Self.full)
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).isOk)
            world.store.failSaves(with: nil)
            let saves = world.store.saves
            try await world.sleep(.seconds(600))
            #expect(world.store.saves == saves + 1)
        }
    }

    @Test("the end of a session that cannot be removed from the store is carried out as soon as that works")
    func ended() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.server.endSession(of: "anna")
            world.store.failSaves(with: Self.full)
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).oauthKind == .invalidGrant)
            #expect(try await world.stored(session) != nil)
            world.store.failSaves(with: nil)
            try await world.sleep(.seconds(60))
            #expect(try await world.stored(session) == nil)
        }
    }

    @Test("a sign-in that could not be saved wins over a session that is only refreshed meanwhile")
    func refreshedMeanwhile() async throws {
        try await SessionWorld.run { world in
            let first = try await world.signedIn()
            let second = world.process()
            try await world.sleep(.seconds(10))
            world.store.failSaves(with: Self.full)
            let credential = world.server.signIn("bert", at: world.date)
            let error = await EndpointFixture.error { () async throws(SessionError) in
                try await second.signIn(credential)
            }
            #expect(error?.kind == .store(Self.full))
            // By now the second tries about twice a minute; the first refreshes in between.
            try await world.sleep(.seconds(100))
            world.store.failSaves(with: nil)
            world.server.revokeAccessTokens()
            #expect(await world.call(first).isOk)
            #expect(try await world.stored(first)?.credential.accessToken == "anna-a2")
            try await world.sleep(.seconds(60))
            #expect(try await world.stored(first)?.credential.accessToken == "bert-a1")
        }
    }

    @Test("a sign-out that neither the store nor the server takes tells of the store, whose next process is signed in")
    func signOutFailsTwice() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.store.failSaves(with: Self.full)
            world.server.transport.on(.post, "/revoke", .status(503))
            let error = await EndpointFixture.error { () async throws(SessionError) in try await session.signOut() }
            #expect(error?.kind == .store(Self.full))
            #expect(!session.isSignedIn)
        }
    }
}
