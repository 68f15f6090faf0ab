import Foundation
import Nautilus
import NautilusOAuth
import TestSupport
import Testing

/// The store takes a second for each save or load, and something else happens within it.
@Suite("A store that takes its time")
struct SlowStoreTests {
    @Test("B signs in while A's refreshed credential is being saved: B is signed in here and in the store")
    func signInDuringSave() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            try await world.sleep(.seconds(3600))
            world.store.slowSaves(to: .seconds(1))
            async let call = world.call(session)
            // The note takes one second, the token request a tenth: the fresh credential is being saved.
            try await world.sleep(.milliseconds(1_600))
            try await session.signIn(world.server.signIn("bert", at: world.date))
            #expect(await call.refreshError.map { "\($0)" } == RefreshError.superseded.description)
            #expect(session.header[.authorization] == "Bearer bert-a1")
            #expect(try await world.stored(session)?.credential.accessToken == "bert-a1")
            #expect(await world.call(session).isOk)
            #expect(world.server.carried == ["bert-a1"])
        }
    }

    @Test("a refresh that the store has held up for too long does not send a token whose answer it would not wait for")
    func heldUp() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            try await world.sleep(.seconds(3600))
            // The look, the note and the look after it: the time limit would be reached while the server answers.
            world.store.slowLoads(to: .seconds(29))
            world.store.slowSaves(to: .seconds(29))
            world.server.setDelay(.seconds(4))
            _ = await world.call(session)
            world.store.slowLoads(to: .zero)
            world.store.slowSaves(to: .zero)
            try await world.sleep(.seconds(600))
            #expect(await world.call(session).isOk)
            #expect(world.server.reuses == 0)
            #expect(world.server.spent == ["anna-r1"])
        }
    }

    @Test("B signs in while the saving of A's refreshed credential is about to fail: A's is not saved later")
    func signInDuringFailingSave() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            try await world.sleep(.seconds(3600))
            world.store.slowSaves(to: .seconds(1))
            async let call = world.call(session)
            try await world.sleep(.milliseconds(1_600))
            world.store.failSaves(with: .full(place: "disk"))
            let credential = world.server.signIn("bert", at: world.date)
            let error = await EndpointFixture.error { () async throws(SessionError) in
                try await session.signIn(credential)
            }
            #expect(error?.kind == .store(.full(place: "disk")))
            _ = await call
            world.store.failSaves(with: nil)
            try await world.sleep(.seconds(60))
            #expect(session.header[.authorization] == "Bearer bert-a1")
            #expect(try await world.stored(session)?.credential.accessToken == "bert-a1")
            // A new process has only the store.
            #expect(await world.call(world.process()).isOk)
            #expect(world.server.carried == ["bert-a1"])
        }
    }

    @Test("B signs in while the store is being read for the first time: A, who was found there, is not signed in")
    func signInDuringLook() async throws {
        try await SessionWorld.run { world in
            _ = try await world.signedIn()
            let session = world.process()
            world.store.slowLoads(to: .seconds(1))
            async let isSignedIn = session.restore()
            try await world.sleep(.milliseconds(500))
            try await session.signIn(world.server.signIn("bert", at: world.date))
            #expect(try await isSignedIn)
            #expect(session.header[.authorization] == "Bearer bert-a1")
            #expect(await world.call(session).isOk)
            #expect(world.server.carried == ["bert-a1"])
            #expect(try await world.stored(session)?.credential.accessToken == "bert-a1")
        }
    }

    @Test("a refresh of another process that is saved during a look is noticed by the next call")
    func savedDuringLook() async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            let stored = try #require(try await world.stored(first))
            world.store.slowLoads(to: .seconds(1))
            async let isSignedIn = second.restore()
            try await world.sleep(.milliseconds(500))
            // Looked at before, saved behind it: the second's look brings the old record.
            try await world.store.save(Self.successor(of: stored, "anna-a9", "anna-r9"), for: first.key)
            #expect(try await isSignedIn)
            world.store.slowLoads(to: .zero)
            try await second.restore()
            #expect(second.header[.authorization] == "Bearer anna-a9")
        }
    }

    @Test("a credential refreshed elsewhere since the last look stays stored when the session ends here")
    func savedBeforeRemoval() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let stored = try #require(try await world.stored(session))
            world.server.endSession(of: "anna")
            try await world.sleep(.seconds(3600))
            async let call = world.call(session)
            // The token endpoint takes a tenth of a second; then it is looked whether the token was replaced meanwhile.
            try await world.sleep(.milliseconds(50))
            world.store.slowLoads(to: .seconds(1))
            try await world.sleep(.milliseconds(550))
            let successor = try Self.successor(of: stored, "anna-a9", "anna-r9")
            try await world.store.save(successor, for: session.key)
            #expect(await call.oauthKind == .invalidGrant)
            #expect(try await world.stored(session) == successor)
        }
    }

    @Test("a sign-out that waits for another process's sign-in to be saved leaves that alone")
    func signOutDuringSignIn() async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            world.store.slowSaves(to: .seconds(1))
            async let signIn: Void = second.signIn(world.server.signIn("bert", at: world.date))
            try await world.sleep(.milliseconds(500))
            try await first.signOut()
            try await signIn
            #expect(try await world.stored(first)?.credential.accessToken == "bert-a1")
            #expect(await world.call(second).isOk)
            #expect(world.server.revoked == ["anna-r1", "anna-a1"])
        }
    }

    @Test("a later sign-in of another process, saved first, wins: the earlier one is told, and goes on as the other")
    func laterElsewhere() async throws {
        try await SessionWorld.run { world in
            let session = world.process()
            let lock = try #require(try await world.store.lock(session.key))
            let credential = world.server.signIn("anna", at: world.date)
            async let error = EndpointFixture.error { () async throws(SessionError) in
                try await session.signIn(credential)
            }
            try await world.sleep(.seconds(1))
            let bert = world.server.signIn("bert", at: world.date)
            try await world.store.save(StoredCredential(session: UUID(), credential: bert), for: session.key)
            lock.unlock()
            #expect(await error?.kind == .superseded)
            #expect(session.header[.authorization] == "Bearer bert-a1")
            #expect(try await world.stored(session)?.credential == bert)
        }
    }

    @Test("the store is said to work again when everything is saved, and not while a sign-in still is not")
    func recovery() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            try await world.sleep(.seconds(3600))
            let log = Locked<[String]>([])
            let events = session.events
            let listener = BackgroundTask.start {
                for await event in events.prefix(3) {
                    let token = try? await world.stored(session)?.credential.accessToken
                    log.withLock { $0.append("\(event.name), stored \(token ?? "none")") }
                }
            }
            world.store.failSaves(with: .full(place: "disk"))
            async let call = world.call(session)
            try await world.sleep(.milliseconds(50))
            world.store.failSaves(with: nil)
            world.store.slowSaves(to: .seconds(1))
            // The note could not be saved; the fresh credential is being saved, and a sign-in waits behind it.
            try await world.sleep(.milliseconds(500))
            try await session.signIn(world.server.signIn("bert", at: world.date))
            _ = await call
            await listener.value
            #expect(
                log.withLock { $0 } == [
                    "storeFailed, stored anna-a1", "signedIn, stored anna-a1", "storeRecovered, stored bert-a1",
                ]
            )
        }
    }

    /// The record that another process has made by a refresh.
    private static func successor(
        of stored: StoredCredential,
        _ accessToken: String,
        _ refreshToken: String
    ) throws -> StoredCredential {
        let credential = OAuthCredential(
            accessToken: accessToken,
            refreshToken: refreshToken,
            receivedAt: stored.credential.receivedAt
        )
        return try StoredCredential(session: stored.session, number: stored.number, credential: credential)
    }
}
