import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusSessions

@Suite("Users in quick succession")
struct SuccessionTests {
    /// The rules of a token whose refresh takes ten seconds more, and goes on when it is cancelled.
    private static func slowRules(_ world: TokenWorld) -> SessionRules<ApiToken> {
        SessionRules(
            authorize: { token, request in request.header["X-Api-Token"] = token.value },
            lifetime: { .seconds($0.expires.timeIntervalSince(world.date)) },
            revoke: { token in _ = try await SendToken(token: token, route: ["forget"]).schedule(with: world.api) },
            refresh: { token in
                let fresh = Locked(token)
                await BackgroundTask.start {
                    guard let value = try? await SendToken(token: token).schedule(with: world.api) else { return }
                    try? await world.sleep(.seconds(10))
                    fresh.withLock { $0 = ApiToken(value: value, expires: world.date.addingTimeInterval(3600)) }
                }.value
                return fresh.withLock { $0 }
            }
        )
    }

    @Test(
        "a late refresh of a user who has signed out is revoked, whoever has signed in and out since",
        arguments: 0..<10 as Range<UInt64>,
        [[], ["bert"], ["bert", "carl"]]
    )
    func lateRefresh(seed: UInt64, others: [String]) async throws {
        try await TokenWorld.run(seed: seed) { world in
            let session = world.process(Self.slowRules(world))
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try await world.sleep(.seconds(3600))
            await withTaskGroup(of: Void.self) { group in
                group.addTask { _ = await world.call(session) }
                try? await world.sleep(.seconds(1))
                group.addTask { try? await session.signOut() }
                for user in others {
                    try? await world.sleep(.seconds(1))
                    let credential = world.server.signIn(user, at: world.date)
                    group.addTask { try? await session.signIn(credential) }
                    try? await world.sleep(.seconds(1))
                    group.addTask { try? await session.signOut() }
                }
            }
            try await world.sleep(.seconds(60))
            #expect(world.server.revoked.sorted() == ["anna-1", "anna-2"] + others.map { "\($0)-1" })
            #expect(world.server.carried.isEmpty)
            #expect(world.store.load(world.key) == nil)
        }
    }

    @Test("a late refresh of each replaced user is revoked when every sign-in revokes the user before")
    func lateRefreshOfReplaced() async throws {
        try await TokenWorld.run { world in
            let session = world.process(Self.slowRules(world))
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try await world.sleep(.seconds(3600))
            await withTaskGroup(of: Void.self) { group in
                group.addTask { _ = await world.call(session) }
                for user in ["bert", "carl"] {
                    try? await world.sleep(.seconds(1))
                    let credential = world.server.signIn(user, at: world.date)
                    group.addTask { try? await session.signIn(credential, revokingReplaced: true) }
                }
            }
            try await world.sleep(.seconds(60))
            #expect(world.server.revoked.sorted() == ["anna-1", "anna-2", "bert-1"])
            #expect(await world.call(session).token == "carl-1")
        }
    }

    @Test("a refresh during a change of users leaves record and credential consistent")
    func overtakenRefresh() async throws {
        try await TokenWorld.run { world in
            let meanwhile = Locked<(@Sendable () -> Void)?>(nil)
            let rules = SessionRules<ApiToken>(
                authorize: { _, _ in },
                lifetime: { token in
                    // Asked in the middle of the change to the user who has signed in elsewhere.
                    let work = meanwhile.withLock { work in
                        defer { work = nil }
                        return work
                    }
                    work?()
                    return nil
                },
                refresh: { $0 }
            )
            let (session, other) = (world.process(rules), world.process())
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try await other.signIn(world.server.signIn("bert", at: world.date))
            let shared = session.shared
            let (epoch, known) = shared.present()
            let look = try await shared.store.look()
            let anna = try #require(known.record)
            // A refresh that has just ended could not be saved.
            let refreshed = anna.replacing(
                SessionRecord.Encoded(ApiToken(value: "anna-2", expires: anna.credential.expires)),
                cameExpired: false
            )
            meanwhile.withLock { $0 = { shared.keep(refreshed) } }
            // It keeps the lock, so that no other process spends what it has spent.
            shared.state.withLock { $0.keptLock = world.store.lock(world.key) }
            #expect(shared.follow(look, from: known, since: epoch))
            #expect(session.current?.credential.value == "bert-1")
            #expect(session.id == other.id && other.id != nil)
            #expect(shared.state.withLock { $0.unsaved } == nil)
            #expect(world.store.lock(world.key) != nil)
            // Another look, begun before, comes to nothing.
            #expect(!shared.follow(look, from: known, since: epoch))
            try await session.restore()
            #expect(session.current?.credential.value == "bert-1")
            #expect(session.id == other.id)
        }
    }

    @Test("ten thousand calls, half of which are cancelled, wait for one refresh, and nothing stays behind")
    func manyWaiters() async throws {
        try await TokenWorld.run(seed: 7) { world in
            weak var session: Session<ApiToken>?
            weak var coordinator: RefreshCoordinator<ApiToken>?
            do {
                let strong = try await world.signedIn()
                (session, coordinator) = (strong, strong.coordinator)
                try await world.sleep(.seconds(3600))
                let (answered, left) = (Locked<[String: Int]>([:]), Locked(0))
                let tasks = (0..<10_000).map { _ in
                    BackgroundTask.start {
                        do {
                            let value = try await strong.credential().credential.value
                            answered.withLock { $0[value, default: 0] += 1 }
                        } catch {
                            if error is CancellationError { left.withLock { $0 += 1 } }
                        }
                    }
                }
                try await world.sleep(.milliseconds(50))
                var generator = SeededGenerator(seed: 7)
                let cancelled = tasks.shuffled(using: &generator).prefix(5_000)
                for task in cancelled { task.cancel() }
                for task in tasks { await task.value }
                #expect(answered.withLock { $0 } == ["anna-2": 5_000])
                #expect(left.withLock { $0 } == 5_000)
                #expect(world.server.refreshes == ["anna-1"])
            }
            try await world.sleep(.seconds(1_000))
            #expect(session == nil && coordinator == nil)
        }
    }

    @Test(
        "a revocation that is still being tried ends with the next sign-in: a server may end all that its user has",
        arguments: [false, true]
    )
    func revokedLater(revokesReplaced: Bool) async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            world.server.failRevocation(with: .fail(.networkConnectionLost))
            await #expect(throws: SessionError.self) { try await session.signOut() }
            // The same user comes with the same credential, which must not be revoked, whatever was asked for.
            let credential = world.server.signIn(revokesReplaced ? "bert" : "anna", at: world.date)
            try await session.signIn(credential, revokingReplaced: revokesReplaced)
            try await world.sleep(.seconds(600))
            #expect(world.server.revoked == (revokesReplaced ? ["anna-1"] : []))
        }
    }

    @Test("a revocation still being tried ends when the same user signs in with another credential")
    func revokedLaterThanSignIn() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            world.server.failRevocation(with: .fail(.networkConnectionLost))
            await #expect(throws: SessionError.self) { try await session.signOut() }
            try await session.signIn(world.server.signIn("annas-other", at: world.date))
            try await world.sleep(.seconds(600))
            #expect(world.server.revoked == [])
        }
    }

    @Test("a session is numbered after the one before it, though that has left nothing in the store")
    func numbered() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn("anna")
            try await session.signOut()
            #expect(world.store.load(world.key) == nil)
            try await session.signIn(world.server.signIn("bert", at: world.date))
            #expect(world.store.load(world.key)?.number == 2)
        }
    }

    @Test("a sign-in that replaces an unreadable record is numbered after it")
    func numberedAfterDamage() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn("anna")
            let next = world.process(store: Damaged(base: world.store))
            try await next.restore()
            try await next.signIn(world.server.signIn("bert", at: world.date))
            #expect(world.store.load(world.key)?.number == 2)
            #expect(await world.call(session).token == "bert-1")
        }
    }

    @Test("a revocation that is late does not end the session of a sign-in in another process")
    func lateRevocation() async throws {
        try await TokenWorld.run { world in
            let (session, other) = (try await world.signedIn(), world.process())
            world.server.failRevocation(with: .fail(.networkConnectionLost))
            await #expect(throws: SessionError.self) { try await session.signOut() }
            try await other.signIn(world.server.signIn("annas-other", at: world.date))
            try await world.sleep(.seconds(600))
            #expect(world.server.revoked == [])
            #expect(session.id == other.id)
        }
    }
}

/// A store whose record is damaged from the second look on, and which takes no note of an end.
private struct Damaged: StoreInFront {
    let base: MemoryStore
    private let looks = Locked(0)

    init(base: MemoryStore) { self.base = base }

    func pass(_ operation: StoreOperation) async throws {
        guard operation == .load else {
            if operation == .end { throw CredentialStoreError.full(place: "disk") }
            return
        }
        let look = looks.withLock { looks in
            looks += 1
            return looks
        }
        if look > 1 { throw CredentialStoreError.damaged(place: "record") }
    }
}
