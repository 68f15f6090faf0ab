import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("A stored credential of another version of the app")
struct UndecodableRecordTests {
    private static let content = Data(#"{"secret":"anna-1"}"#.utf8)
    private static let kind = SessionError.Kind.store(.undecodable(type: "ApiToken"))

    @Test("another app version's credential is reported by calls and restore, is not sent, and stays")
    func told() async throws {
        try await TokenWorld.run { world in
            let stored = StoredCredential(session: UUID(), content: Self.content)
            world.store.save(stored, for: world.key)
            let session = world.process()
            #expect(await world.call(session).sessionKind == Self.kind)
            let error = await #expect(throws: SessionError.self) { try await session.restore() }
            #expect(error?.kind == Self.kind)
            #expect(world.server.transport.attempts.isEmpty)
            #expect(world.store.load(world.key) == stored)
        }
    }

    @Test("another app version's credential is replaced by a sign-in, and removed by a sign-out")
    func replaced() async throws {
        try await TokenWorld.run { world in
            let stored = StoredCredential(session: UUID(), number: 7, content: Self.content)
            world.store.save(stored, for: world.key)
            let session = try await world.signedIn()
            #expect(world.store.load(world.key)?.number == 8)
            #expect(await world.call(session).token == "anna-1")

            world.store.save(stored, for: world.key)
            try await world.process().signOut()
            #expect(world.store.load(world.key) == nil)
        }
    }

    @Test("a newer app's credential that was saved first stays if an older app's sign-in was not saved")
    func savedFirst() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn("anna")
            let lock = try #require(world.store.lock(world.key))
            let bert = world.server.signIn("bert", at: world.date)
            let signIn = BackgroundTask.start { try? await session.signIn(bert) }
            try await world.sleep(.seconds(1))
            let stored = StoredCredential(session: UUID(), number: 1, content: Self.content)
            world.store.save(stored, for: world.key)
            lock.unlock()
            await signIn.value
            try await world.sleep(.seconds(60))
            #expect(world.store.load(world.key) == stored)
            #expect(!session.isSignedIn)
        }
    }

    @Test("a credential that a newer app has refreshed goes on there, though this app is refused")
    func refreshedMeanwhile() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let before = try #require(world.store.load(world.key))
            let refreshed = StoredCredential(session: before.session, content: Self.content)
            try await world.sleep(.seconds(3600))
            world.server.transport.on(.post, "/renew") { _, _ in
                world.store.save(refreshed, for: world.key)
                return .status(401)
            }
            #expect(await world.call(session).sessionKind == Self.kind)
            try await world.sleep(.seconds(600))
            #expect(world.store.load(world.key) == refreshed)
        }
    }

    @Test(
        "a newer app's stored fields are kept, though this app has noted a refresh that failed",
        arguments: [(ScriptedReply.status(503), 0), (.fail(.networkConnectionLost), 2)]
    )
    func unknownFields(reply: ScriptedReply, unanswered: Int) async throws {
        try await TokenWorld.run { world in
            let token = world.server.signIn("anna", at: world.date)
            var fields = try #require(
                try JSONSerialization.jsonObject(with: JSONEncoder().encode(token)) as? [String: Any]
            )
            fields["scope"] = "a newer version's"
            let content = try JSONSerialization.data(withJSONObject: fields)
            world.store.save(StoredCredential(session: UUID(), content: content), for: world.key)
            try await world.sleep(.seconds(3600))
            world.server.fail(.answered(reply), .answered(reply))
            let session = world.process()
            #expect(await world.call(session).token == nil)
            let stored = try #require(world.store.load(world.key))
            #expect(stored.content == content)
            #expect(stored.unanswered == unanswered)
        }
    }

    @Test("another app version's credential of another session ends this process's session", arguments: [false, true])
    func anotherSession(isSignedOutFirst: Bool) async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            #expect(await world.call(session).token == "anna-1")
            let before = try #require(world.store.load(world.key))
            if isSignedOutFirst {
                _ = world.store.end(before.session, for: world.key)
                world.store.delete(world.key)
            }
            let stored = StoredCredential(session: UUID(), number: before.number + 1, content: Self.content)
            world.store.save(stored, for: world.key)
            // It has begun in a session that is over; the next ones hear what is stored.
            #expect(await world.call(session).token == nil)
            #expect(await world.call(session).sessionKind == Self.kind)
            #expect(!session.isSignedIn)
            #expect(session.id == nil)
            #expect(world.server.carried == ["anna-1"])
            #expect(world.store.load(world.key) == stored)
            // Nor does a sign-out of the session that is over end the other one.
            try await session.signOut()
            #expect(world.store.load(world.key) == stored)
        }
    }
}
