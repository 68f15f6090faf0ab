import Nautilus
import NautilusOAuth
import TestSupport
import Testing

@Suite("A sign-out of a user who is gone already")
struct LateSignOutTests {
    /// How a process has learnt that its user is gone.
    enum End: CaseIterable { case expired, expiredElsewhere, signedOut, signedOutElsewhere, nobodyAtFirst }

    @Test(
        "a sign-out of a user who is gone already does not end the session of the user after",
        arguments: End.allCases
    )
    func nextUser(end: End) async throws {
        try await SessionWorld.run { world in
            let (first, second) = (world.process(), world.process())
            if end != .nobodyAtFirst {
                try await first.signIn(world.server.signIn("anna", at: world.date))
                try await second.restore()
            }
            switch end {
            case .expired, .expiredElsewhere:
                world.server.endSession(of: "anna")
                try await world.sleep(.seconds(3_600))
                #expect(!(await world.call(end == .expired ? first : second).isOk))
                if end == .expiredElsewhere { try await first.restore() }
            case .signedOut: try await first.signOut()
            case .signedOutElsewhere:
                try await second.signOut()
                try await first.restore()
            case .nobodyAtFirst: try await first.restore()
            }
            #expect(!first.isSignedIn)
            let revoked = world.server.revoked
            try await second.signIn(world.server.signIn("bert", at: world.date))
            try await first.signOut()
            try await world.sleep(.seconds(60))
            #expect(await world.call(second).isOk)
            #expect(await world.call(world.process()).isOk)
            #expect(world.server.carried.suffix(2) == ["bert-a1", "bert-a1"])
            #expect(world.server.revoked == revoked)
            // Heard of here as well, so that this one's user is meant from now on.
            try await first.restore()
            #expect(await world.call(first).isOk)
            try await first.signOut()
            #expect(await world.call(second).isSignedOut)
        }
    }

    @Test("an expiry that cannot be stored yet is one for the other processes in the end, and no sign-out")
    func unsavedExpiry() async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            try await second.restore()
            world.server.endSession(of: "anna")
            try await world.sleep(.seconds(3_599))
            world.store.failSaves(with: .full(place: "disk"))
            try await world.sleep(.seconds(1))
            #expect(await world.call(first).oauthKind == .invalidGrant)
            world.store.failSaves(with: nil)
            try await world.sleep(.seconds(60))
            #expect(try await world.store.load(first.key)?.hasExpired == true)
            let call = await world.call(second)
            guard case .sessionExpired? = call.refreshError else {
                Issue.record("\(call)")
                return
            }
            #expect(call.sessionKind == .expired)
            #expect(world.server.tokenRequests == 1)
        }
    }

    @Test("a sign-out of a user whose expiry could not be stored yet removes the record")
    func signOutOfUnsavedExpiry() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.server.endSession(of: "anna")
            try await world.sleep(.seconds(3_600))
            world.store.failSaves(with: .full(place: "disk"))
            #expect(await world.call(session).oauthKind == .invalidGrant)
            _ = try? await session.signOut()
            world.store.failSaves(with: nil)
            try await world.sleep(.seconds(60))
            #expect(try await world.store.version(of: session.key) == nil)
        }
    }

    @Test(
        "a record that is left alone, being foreign or of a newer version, is told once, and not tried again for ever",
        arguments: [CredentialStoreError.foreign(place: "file"), .newerFormat(place: "file", version: 2)]
    )
    func leftAlone(error: CredentialStoreError) async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.store.failLoads(with: error)
            let thrown = await EndpointFixture.error { () async throws(SessionError) in try await session.signOut() }
            #expect(thrown?.kind == .store(error))
            #expect(!session.isSignedIn)
            let looks = world.store.looks
            try await world.sleep(.seconds(3_600))
            #expect(world.store.looks == looks)
            #expect(world.server.revoked == ["anna-r1", "anna-a1"])
            // Whoever signs in is signed in here, and stored as soon as there is room.
            _ = try? await session.signIn(world.server.signIn("bert", at: world.date))
            world.store.failLoads(with: nil)
            try await world.sleep(.seconds(60))
            #expect(try await world.stored(session)?.credential.accessToken == "bert-a1")
        }
    }
}
