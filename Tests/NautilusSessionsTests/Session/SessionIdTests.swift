import Foundation
import Nautilus
import NautilusCaching
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("A session's id, its states, and anonymous calls")
struct SessionIdTests {
    @Test("isSignedIn as a stream begins with how it is, and has one element for each change")
    func states() async throws {
        try await TokenWorld.run { world in
            let session = world.process()
            let (early, other) = (session.signedInStates, world.process())
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try await world.sleep(.seconds(3600))
            // A refresh, and another user in place of the first, change nothing of it.
            #expect(await world.call(session).token == "anna-2")
            try await session.signIn(world.server.signIn("bert", at: world.date))
            let late = session.signedInStates
            try await other.signOut()
            _ = await world.call(session)
            try await session.signIn(world.server.signIn("carl", at: world.date))
            world.server.endSessions()
            _ = await world.call(session)
            var (all, rest): ([Bool], [Bool]) = ([], [])
            for await state in early.prefix(5) { all.append(state) }
            for await state in late.prefix(4) { rest.append(state) }
            #expect(all == [false, true, false, true, false])
            #expect(rest == [true, false, true, false])
        }
    }

    @Test("an id is the same for every process and every refresh, and another one after each sign-in")
    func id() async throws {
        try await TokenWorld.run { world in
            let (first, second) = (world.process(), world.process())
            #expect(first.id == nil)
            try await first.signIn(world.server.signIn("anna", at: world.date))
            let anna = try #require(first.id)
            try await second.restore()
            #expect(second.id == anna)
            try await world.sleep(.seconds(3600))
            #expect(await world.call(second).token == "anna-2")
            #expect(second.id == anna)
            try await second.signIn(world.server.signIn("anna", at: world.date))
            #expect(second.id != nil && second.id != anna)
            try await second.signOut()
            #expect(second.id == nil)
            try await first.restore()
            #expect(first.id == nil)
        }
    }

    /// Asks a session for its id in the middle of everything that it does.
    private final class Watcher: Sendable {
        let seen = Locked<[(token: String?, id: UUID?)]>([])
        let session = Locked<Session<ApiToken>?>(nil)

        func look() {
            guard let session = session.withLock({ $0 }) else { return }
            let token = session.current?.credential.value
            let id = session.id
            seen.withLock { $0.append((token, id)) }
        }
    }

    /// A store that has somebody look before each look of its own.
    private struct WatchedStore: CredentialStore {
        let base: MemoryStore
        let watcher: Watcher

        func load(_ key: CredentialKey) -> StoredCredential? {
            watcher.look()
            return base.load(key)
        }
        func save(_ stored: StoredCredential, for key: CredentialKey) {
            watcher.look()
            base.save(stored, for: key)
        }
        func end(_ session: UUID, for key: CredentialKey) -> StoredCredential? { base.end(session, for: key) }
        func delete(_ key: CredentialKey) { base.delete(key) }
        func version(of key: CredentialKey) -> CredentialVersion? {
            watcher.look()
            return base.version(of: key)
        }
        func lock(_ key: CredentialKey) -> (any CredentialLock)? { base.lock(key) }
    }

    @Test("an id never goes with another user's credential, however users change", arguments: 0..<50 as Range<UInt64>)
    func neverAnother(seed: UInt64) async throws {
        try await TokenWorld.run(seed: seed) { world in
            let watcher = Watcher()
            let rules = SessionRules<ApiToken>(
                authorize: { token, request in request.header["X-Api-Token"] = token.value },
                lifetime: { _ in
                    // Asked in the middle of each change.
                    watcher.look()
                    return nil
                },
                refresh: { $0 }
            )
            let session = world.process(rules, store: WatchedStore(base: world.store, watcher: watcher))
            watcher.session.withLock { $0 = session }
            let other = world.process()
            await withTaskGroup(of: Void.self) { group in
                for user in ["anna", "bert", "carl"] {
                    group.addTask { try? await session.signIn(world.server.signIn(user, at: world.date)) }
                    group.addTask { try? await other.signIn(world.server.signIn(user + "2", at: world.date)) }
                    group.addTask { _ = await world.call(session) }
                    group.addTask {
                        for _ in 1...20 {
                            watcher.look()
                            await Task.yield()
                        }
                    }
                }
                group.addTask { try? await session.signOut() }
            }
            watcher.session.withLock { $0 = nil }
            // Each id has been seen with the tokens of one user.
            var users: [UUID: Set<String>] = [:]
            for case (let token?, let id?) in watcher.seen.withLock({ $0 }) {
                users[id, default: []].insert(String(token.prefix { $0 != "-" }))
            }
            #expect(!users.isEmpty && users.values.allSatisfy { $0.count == 1 }, "\(users.values)")
        }
    }

    @Test("a cache apart by session gives nobody what another was given, and forgets a session that is over")
    func cache() async throws {
        try await TokenWorld.run { world in
            let session = world.process()
            let pretended = Locked<UUID?>(nil)
            let cache = HttpCache(
                accounts: .separate { _ in (pretended.withLock { $0 } ?? session.id)?.uuidString },
                wallClock: { world.date }
            )
            let service = world.api.with {
                $0.interceptors = [cache]
                $0.retrierFactory = session.authorization
            }
            let ended = session.endedIds
            // A child, so that the simulation sees it.
            async let removal: Void = {
                for await id in ended.prefix(2) { await cache.removeAll(ofAccount: id.uuidString) }
            }()
            var ids: [UUID?] = []
            for user in ["anna", "bert"] {
                try await session.signIn(world.server.signIn(user, at: world.date))
                ids.append(session.id)
                for _ in 1...2 { #expect(try await GetNotes().schedule(with: service) == "\(user)-1") }
            }
            #expect(world.server.carried == ["anna-1", "bert-1"])
            try await session.signOut()
            await removal
            for id in ids {
                pretended.withLock { $0 = id }
                await #expect(throws: HttpError.self) { try await GetNotes().schedule(with: service.anonymous) }
            }
            #expect(world.server.carried == ["anna-1", "bert-1", "", ""])
        }
    }

    @Test("the id is that of the store at once, in a process that has just started, and after a change elsewhere")
    func idAtOnce() async throws {
        try await TokenWorld.run { world in
            let other = try await world.signedIn()
            let session = world.process()
            #expect(session.id != nil && session.id == other.id)
            #expect(await world.call(session).token == "anna-1")
            try await other.signIn(world.server.signIn("bert", at: world.date))
            #expect(session.id == other.id)
            try await other.signOut()
            #expect(session.id == nil)
        }
    }

    @Test("after a sign-out elsewhere, nothing that was kept for the user is given any more", arguments: [false, true])
    func endedElsewhere(isSlow: Bool) async throws {
        try await TokenWorld.run { world in
            let session = isSlow ? world.process(store: AnyStore(base: world.store)) : world.process()
            try await session.signIn(world.server.signIn("anna", at: world.date))
            let accounts = CacheAccounts.separate { _ in session.id?.uuidString }
            let cache = HttpCache(accounts: accounts, wallClock: { world.date })
            let hook = CachingServiceHook(for: .seconds(300), account: { session.id?.uuidString })
            let service = world.api.with {
                $0.interceptors = [cache]
                $0.hook = hook
                $0.retrierFactory = session.authorization
            }
            let other = world.process()
            for _ in 1...2 { #expect(try await GetNotes().schedule(with: service) == "anna-1") }
            #expect(world.server.carried == ["anna-1"])
            try await world.sleep(.seconds(2))
            try await other.signOut()
            // A store that takes its time is looked at in the background.
            if isSlow {
                _ = try? await GetNotes().schedule(with: service)
                try await world.sleep(.seconds(2))
            }
            await #expect(throws: HttpError.self) { try await GetNotes().schedule(with: service) }
            #expect(world.server.carried == ["anna-1"])
        }
    }

    /// A store of one's own, of which nothing is known but what the protocol says.
    private struct AnyStore: StoreInFront {
        let base: MemoryStore
    }

    @Test("every session that ends is told by its id, wherever it was ended")
    func endedIds() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let (ended, other) = (session.endedIds, world.process())
            var ids = [session.id]
            try await session.signIn(world.server.signIn("bert", at: world.date))
            ids.append(session.id)
            try await other.signIn(world.server.signIn("carl", at: world.date))
            try await session.restore()
            ids.append(session.id)
            world.server.endSessions()
            try await world.sleep(.seconds(3600))
            _ = await world.call(session)
            var told: [UUID?] = []
            for await id in ended.prefix(3) { told.append(id) }
            #expect(told == ids && !told.contains(nil))
        }
    }

    @Test("events name the generation of the credential, and neither they nor the session print it or whose it is")
    func events() async throws {
        try await TokenWorld.run { world in
            let session = Session(
                key: CredentialKey(issuer: "api.test", account: "s3cret account"),
                rules: world.rules(),
                store: world.store,
                clock: world.clock,
                random: world.random
            )
            let events = session.events
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).token == "anna-2")
            try await session.signOut()
            var told: [String] = []
            for await event in events.prefix(3) { told.append("\(event)") }
            #expect(told == ["signedIn(generation: 1)", "refreshed(generation: 2)", "signedOut(generation: 2)"])
            try await session.signIn(world.server.signIn("s3cret", at: world.date))
            var dumped = ""
            dump(session, to: &dumped)
            for text in ["\(session)", String(reflecting: session), dumped] {
                #expect(text.contains("Session(api.test") && !text.contains("s3cret"))
            }
        }
    }

    @Test("an anonymous call goes out without a credential, and waits for no refresh; the service's errors stay")
    func anonymous() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let service = world.api.with { $0.retrierFactory = session.retrierFactory }
            #expect(try await GetPrices().schedule(with: service) == "anna-1")
            try await world.sleep(.seconds(3600))
            #expect(try await GetPrices().schedule(with: service.anonymous) == "anonymous")
            #expect(world.server.refreshes == [])
            try await session.signOut()
            #expect(try await GetPrices().schedule(with: service.anonymous) == "anonymous")
        }
    }
}
