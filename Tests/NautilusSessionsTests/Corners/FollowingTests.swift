import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusSessions

/// A look at the store that takes its time, during which this process goes on.
@Suite("Following what other processes have stored")
struct FollowingTests {
    @Test("a look is followed only if nothing has changed here meanwhile, so that a sign-out ends the user it shows")
    func outdatedLook() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn("anna")
            let shared = session.shared
            let (epoch, known) = shared.present()
            let credential = world.server.signIn("bert", at: world.date)
            let bert = SessionRecord(session: UUID(), number: 9, credential: credential)
            // A refresh has noted that it sends the credential.
            shared.state.withLock { $0.version = .unseen }
            let look = SharedStore<ApiToken>.Snapshot(stored: bert, version: .unseen)
            #expect(!shared.follow(look, from: known, since: epoch))
            #expect(session.current?.credential.value == "anna-1")
            #expect(shared.id != nil)

            try await session.signOut()
            #expect(world.store.load(world.key) == nil)
            #expect(world.server.revoked == ["anna-1"])
        }
    }

    @Test("a look that is up to date is followed, whatever else is out of date")
    func look() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn("anna")
            let shared = session.shared
            let credential = world.server.signIn("bert", at: world.date)
            let bert = SessionRecord(session: UUID(), number: 9, credential: credential)
            let look = SharedStore<ApiToken>.Snapshot(stored: bert, version: .unseen)
            let (epoch, known) = shared.present()
            #expect(shared.follow(look, from: known, since: epoch))
            #expect(session.current?.credential.value == "bert-1")
            #expect(shared.state.withLock { $0.record?.session } == bert.session)
            // Followed already.
            #expect(!shared.follow(look, from: known, since: epoch))
        }
    }

    @Test("a second sign-out, while the first is not stored yet, is not meant for the next user")
    func secondSignOut() async throws {
        try await TokenWorld.run { world in
            let store = UnrulyStore(world.store, world.clock, world.random)
            let here = world.process(store: store)
            try await here.signIn(world.server.signIn("anna", at: world.date))
            store.breakDown(true)
            await #expect(throws: SessionError.self) { try await here.signOut() }
            let there = world.process()
            try await there.signIn(world.server.signIn("bert", at: world.date))
            await #expect(throws: SessionError.self) { try await here.signOut() }
            store.breakDown(false)
            try await world.sleep(.seconds(3600))
            #expect(await world.call(there).token == "bert-2")
            try await here.restore()
            #expect(await world.call(here).token == "bert-2")
        }
    }
}
