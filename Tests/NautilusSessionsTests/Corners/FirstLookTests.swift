import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

/// A store over copies shows a process that has just started what was stored before; who holds the lock is shown the
/// latest.
@Suite("A new process over a store with stale reads")
struct FirstLookTests {
    /// What its process is shown: nothing, or the user before.
    enum Shown: CaseIterable, Sendable { case nothing, userBefore }

    /// A process that is shown something else than Anna, who is signed in.
    private func process(
        shown: Shown,
        in world: TokenWorld
    ) async throws -> (Session<ApiToken>, CopiedStore) {
        if shown == .userBefore { _ = try await world.signedIn("zoe") }
        let store = CopiedStore(world.store, behind: world.store.load(world.key))
        _ = try await world.signedIn("anna")
        return (world.process(store: store), store)
    }

    @Test(
        "a new process over stale reads signs out the stored user and revokes the credential",
        arguments: Shown.allCases
    )
    func signOut(shown: Shown) async throws {
        try await TokenWorld.run { world in
            let (session, _) = try await process(shown: shown, in: world)
            try await session.signOut()
            #expect(world.store.load(world.key) == nil)
            #expect(try await world.process().restore() == false)
            #expect(try await session.restore() == false)
            try await world.sleep(.seconds(1))
            #expect(world.server.revoked.contains("anna-1"))
        }
    }

    @Test("a new process over stale reads signs in a user in the place of the stored one", arguments: Shown.allCases)
    func signIn(shown: Shown) async throws {
        try await TokenWorld.run { world in
            let (session, _) = try await process(shown: shown, in: world)
            try await session.signIn(world.server.signIn("bert", at: world.date))
            #expect(await world.call(session).token == "bert-1")
            #expect(await world.call(world.process()).token == "bert-1")
        }
    }

    @Test("a new process over stale reads signs out nobody who comes after it had the lock")
    func removalFails() async throws {
        try await TokenWorld.run { world in
            let store = CopiedStore(world.store, behind: nil)
            store.failing.withLock { $0 = [.delete] }
            let session = world.process(store: store)
            await #expect(throws: SessionError.self) { try await session.signOut() }
            let other = try await world.signedIn("carl")
            store.failing.withLock { $0 = [] }
            try await world.sleep(.seconds(120))
            #expect(await world.call(other).token == "carl-1")
        }
    }

    @Test("a new process does not go on as the replaced user when a read is stale once more")
    func behindAgain() async throws {
        try await TokenWorld.run { world in
            let (session, store) = try await process(shown: .nothing, in: world)
            let anna = world.store.load(world.key)
            try await session.signIn(world.server.signIn("bert", at: world.date))
            store.fallBack(to: anna)
            #expect(await world.call(session).token == "bert-1")
        }
    }

    @Test("a new process does not leave the user before signed in when its own user signs out unsaved")
    func signOutOfUnsaved() async throws {
        try await TokenWorld.run { world in
            let (session, store) = try await process(shown: .nothing, in: world)
            store.failing.withLock { $0 = [.save, .end, .delete] }
            await #expect(throws: SessionError.self) {
                try await session.signIn(world.server.signIn("bert", at: world.date))
            }
            try? await session.signOut()
            store.failing.withLock { $0 = [] }
            try await world.sleep(.seconds(120))
            #expect(try await world.process().restore() == false)
        }
    }

    @Test(
        "a new process over stale reads replaces the user also if it could not have the lock at first",
        arguments: Shown.allCases,
        [true, false]
    )
    func lockedElsewhere(shown: Shown, isSignOut: Bool) async throws {
        try await TokenWorld.run { world in
            let (session, store) = try await process(shown: shown, in: world)
            store.failing.withLock { $0 = [.lock] }
            await #expect(throws: SessionError.self) {
                if isSignOut {
                    try await session.signOut()
                } else {
                    try await session.signIn(world.server.signIn("bert", at: world.date))
                }
            }
            store.failing.withLock { $0 = [] }
            try await world.sleep(.seconds(120))
            #expect(await world.call(session).token == (isSignOut ? nil : "bert-1"))
            #expect(await world.call(world.process()).token == (isSignOut ? nil : "bert-1"))
        }
    }
}

/// One process's view of a store over copies: behind, until the process has held the lock. Some of its operations fail.
private final class CopiedStore: StoreInFront {
    let base: MemoryStore
    let showsLatest = false
    let failing = Locked<[StoreOperation]>([])
    /// What is shown in place of the latest.
    private let behind: Locked<(isShown: Bool, stored: StoredCredential?)>

    init(_ base: MemoryStore, behind: StoredCredential?) {
        self.base = base
        self.behind = Locked((true, behind))
    }

    /// Shows an older record from now on.
    func fallBack(to stored: StoredCredential?) { behind.withLock { $0 = (true, stored) } }

    func pass(_ operation: StoreOperation) async throws {
        guard !failing.withLock({ $0.contains(operation) }) else {
            throw CredentialStoreError.notPermitted(place: "record")
        }
    }

    func load(_ key: CredentialKey) async throws -> StoredCredential? {
        let (isShown, stored) = behind.withLock { $0 }
        return isShown ? stored : base.load(key)
    }

    func version(of key: CredentialKey) async throws -> CredentialVersion? {
        let (isShown, stored) = behind.withLock { $0 }
        return isShown ? stored.map { CredentialVersion("behind \($0.session)") } : base.version(of: key)
    }

    func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? {
        try await pass(.lock)
        guard let lock = base.lock(key) else { return nil }
        behind.withLock { $0 = (false, nil) }
        return lock
    }
}
