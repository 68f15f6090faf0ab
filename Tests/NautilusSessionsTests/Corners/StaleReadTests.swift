import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

/// A store over a database with copies that lag: a read may show what was stored before.
@Suite("Reads that show what was stored before")
struct StaleReadTests {
    /// A session that has been refreshed once, over a store that can show what it had before that.
    private static func refreshed(in world: TokenWorld) async throws -> (Session<ApiToken>, StaleStore) {
        let store = StaleStore(base: world.store)
        let session = world.process(store: store)
        try await session.signIn(world.server.signIn("anna", at: world.date))
        try await store.remember(world.key)
        try await world.sleep(.seconds(3600))
        #expect(await world.call(session).token == "anna-2")
        return (session, store)
    }

    @Test("a credential that was refreshed here is not taken back, and the server need not be asked")
    func refresh() async throws {
        try await TokenWorld.run { world in
            let (session, store) = try await Self.refreshed(in: world)
            store.isStale = true
            #expect(await world.call(session).token == "anna-2")
            store.isStale = false
            #expect(await world.call(session).token == "anna-2")
            #expect(world.server.refreshes == ["anna-1"])
        }
    }

    @Test("the next refresh sends the credential of the last one")
    func nextRefresh() async throws {
        try await TokenWorld.run { world in
            let (session, store) = try await Self.refreshed(in: world)
            store.isStale = true
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).token == "anna-3")
            store.isStale = false
            #expect(await world.call(session).token == "anna-3")
            #expect(world.server.refreshes == ["anna-1", "anna-2"])
            #expect(session.isSignedIn)
        }
    }

    @Test("a user who has signed out here does not come back, and neither does one who was replaced")
    func signOut() async throws {
        try await TokenWorld.run { world in
            let store = StaleStore(base: world.store)
            let session = world.process(store: store)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try await store.remember(world.key)
            try await session.signOut()
            store.isStale = true
            let outcome = await world.call(session)
            guard case .signedOut? = outcome.refreshError else { return #expect(Bool(false), "\(outcome)") }
            #expect(!session.isSignedIn && session.id == nil)

            store.isStale = false
            try await session.signIn(world.server.signIn("bert", at: world.date))
            store.isStale = true
            #expect(await world.call(session).token == "bert-1")
            #expect(world.server.carried == ["bert-1"])
        }
    }

    @Test("a user whose place a sign-in has taken does not come back, though this process had not heard of them")
    func unknown() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn("anna")
            let store = StaleStore(base: world.store)
            try await store.remember(world.key)
            let session = world.process(store: store)
            try await session.signIn(world.server.signIn("bert", at: world.date))
            store.isStale = true
            #expect(await world.call(session).token == "bert-1")
            store.isStale = false
            #expect(await world.call(session).token == "bert-1")
            #expect(world.server.carried == ["bert-1", "bert-1"])
        }
    }

    /// A session and a process that follows it, over a store that can show the first user.
    private static func following(
        in world: TokenWorld
    ) async throws -> (there: Session<ApiToken>, here: Session<ApiToken>, StaleStore) {
        let store = StaleStore(base: world.store)
        let (there, here) = (world.process(), world.process(store: store))
        try await there.signIn(world.server.signIn("anna", at: world.date))
        try await here.restore()
        try await store.remember(world.key)
        return (there, here, store)
    }

    @Test(
        "a user replaced in another process does not come back, once this process has heard of it",
        arguments: [false, true]
    )
    func replacedElsewhere(isRefreshed: Bool) async throws {
        try await TokenWorld.run { world in
            let (there, here, store) = try await Self.following(in: world)
            if isRefreshed {
                try await world.sleep(.seconds(3600))
                #expect(await world.call(here).token == "anna-2")
                try await store.remember(world.key)
            }
            try await there.signIn(world.server.signIn("bert", at: world.date))
            try await here.restore()
            #expect(await world.call(here).token == "bert-1")
            store.isStale = true
            #expect(await world.call(here).token == "bert-1")
            #expect(world.server.carried.suffix(2) == ["bert-1", "bert-1"])
        }
    }

    @Test("a credential that the server has refused in another process is not sent to it again")
    func refusedElsewhere() async throws {
        try await TokenWorld.run { world in
            let (there, here, store) = try await Self.following(in: world)
            world.server.endSessions()
            _ = await world.call(there)
            _ = await world.call(here)
            #expect(!here.isSignedIn && world.server.refreshes == ["anna-1"])
            store.isStale = true
            _ = await world.call(here)
            #expect(!here.isSignedIn && world.server.refreshes == ["anna-1"])
        }
    }

    @Test("a record that is put back when its user has signed out is ended once more, for the next launch as well")
    func putBack() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let stored = try #require(world.store.load(world.key))
            try await session.signOut()
            world.store.save(stored, for: world.key)
            #expect(session.id == nil)
            let outcome = await world.call(session)
            guard case .signedOut? = outcome.refreshError else { return #expect(Bool(false), "\(outcome)") }
            try await world.sleep(.seconds(1))
            #expect(world.store.load(world.key) == nil)
            #expect(try await !world.process().restore())
        }
    }

    @Test("a store that is empty for a while ends no session: its user is back with the record")
    func lostForAWhile() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let stored = try #require(world.store.load(world.key))
            world.store.delete(world.key)
            #expect(await world.call(session).token == nil)
            #expect(!session.isSignedIn)
            world.store.save(stored, for: world.key)
            #expect(await world.call(session).token == "anna-1")
            #expect(session.isSignedIn && session.id == stored.session)
        }
    }

    @Test("a credential refreshed elsewhere after the server's refusal is adopted, and the refused one is not")
    func refused() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let refused = try #require(world.store.load(world.key))
            world.server.endSessions()
            _ = await world.call(session)
            #expect(!session.isSignedIn)

            world.store.save(refused, for: world.key)
            _ = await world.call(session)
            #expect(!session.isSignedIn && world.server.refreshes == ["anna-1"])

            let token = world.server.signIn("anna", at: world.date)
            let refreshed = try StoredCredential(session: refused.session, refreshCount: 1, credential: token)
            world.store.save(refreshed, for: world.key)
            #expect(await world.call(session).token == "anna-1")
        }
    }
}

/// Reads of it show, while it is stale, what was stored when that was remembered.
private final class StaleStore: StoreInFront {
    private struct State {
        var isStale = false
        var earlier: (stored: StoredCredential?, version: CredentialVersion?)
    }

    let base: MemoryStore
    let showsLatest = false
    private let state = Locked(State(earlier: (nil, nil)))

    init(base: MemoryStore) { self.base = base }

    var isStale: Bool {
        get { state.withLock { $0.isStale } }
        set { state.withLock { $0.isStale = newValue } }
    }

    func remember(_ key: CredentialKey) async throws {
        let earlier = (base.load(key), base.version(of: key))
        state.withLock { $0.earlier = earlier }
    }

    func load(_ key: CredentialKey) async throws -> StoredCredential? {
        state.withLock { $0.isStale ? $0.earlier.stored : base.load(key) }
    }
    func version(of key: CredentialKey) async throws -> CredentialVersion? {
        state.withLock { $0.isStale ? $0.earlier.version : base.version(of: key) }
    }
}
