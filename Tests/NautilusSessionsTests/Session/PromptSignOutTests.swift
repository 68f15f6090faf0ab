import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusSessions

/// A store that needs not wait is told of an end before the sign-out returns, and so are the other processes.
@Suite("A sign-out that is noted at once")
struct PromptSignOutTests {
    @Test(
        "a sign-out that is noted at once revokes the credential though another process has heard of it first",
        arguments: [true, false]
    )
    func heardElsewhere(isKnown: Bool) async throws {
        try await TokenWorld.run { world in
            let there = try await world.signedIn()
            let store = HeardAtOnce(world.store)
            let session = world.process(store: store)
            if isKnown {
                try await session.restore()
                try await world.sleep(.seconds(3600))
                #expect(await world.call(there).token == "anna-2")
            }
            store.removesWhatEnds.withLock { $0 = true }
            try await session.signOut()
            #expect(world.server.revoked == [isKnown ? "anna-2" : "anna-1"])
        }
    }

    @Test("a sign-out is noted by a process that has not looked yet who is signed in")
    func unknown() async throws {
        try await TokenWorld.run { world in
            let id = try await world.signedIn().id
            let store = HeardAtOnce(world.store)
            let signOut = world.process(store: store).signOutNow()
            #expect(store.ended.withLock { $0 } == [id])
            try? await signOut.finish()
        }
    }

    @Test("a sign-out that could not be noted is noted by the next sign-out")
    func notedAgain() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn()
            let store = HeardAtOnce(world.store)
            let session = world.process(store: store)
            try await session.restore()
            let id = try #require(session.id)
            store.isBroken.withLock { $0 = true }
            let first = session.signOutNow()
            #expect(store.ended.withLock { $0 } == [])
            store.isBroken.withLock { $0 = false }
            let second = session.signOutNow()
            #expect(store.ended.withLock { $0 } == [id])
            for signOut in [first, second] { try? await signOut.finish() }
        }
    }

    @Test("a sign-out does not end the session of a user who signs in while it looks who is stored")
    func signedInMeanwhile() async throws {
        let base = MemoryStore()
        let store = HeardAtOnce(base)
        let key = CredentialKey(issuer: "api.test")
        let rules = SessionRules<String>(authorize: { $1.header["X-Key"] = $0 }, refresh: { $0 })
        try await Session(key: key, rules: rules, store: base).signIn("anna")
        let session = SimulatedProcess.$current.withValue(SimulatedProcess()) {
            Session(key: key, rules: rules, store: store)
        }
        store.removesWhatEnds.withLock { $0 = true }
        store.beforeLoad {
            BackgroundTask.start { try? await session.signIn("bert") }
            store.saved.wait()
        }
        try? await session.signOutNow().finish()
        #expect(try base.load(key)?.credential(as: String.self) == "bert")
        #expect(session.current?.credential == "bert")
    }
}

/// A store that takes the note of an end at once, and whose other processes act upon it at once.
private final class HeardAtOnce: PromptStore, StoreInFront {
    let base: MemoryStore
    let removesWhatEnds = Locked(false)
    let isBroken = Locked(false)
    let ended = Locked<[UUID]>([])
    /// Signalled by each save, once the record is there.
    let saved = DispatchSemaphore(value: 0)
    private let work = Locked<(@Sendable () -> Void)?>(nil)

    init(_ base: MemoryStore) { self.base = base }

    /// Does something before the next load that answers at once.
    func beforeLoad(_ work: @escaping @Sendable () -> Void) { self.work.withLock { $0 = work } }

    func pass(_ operation: StoreOperation) async throws {
        if operation == .end { try check() }
    }

    func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
        base.save(stored, for: key)
        saved.signal()
    }

    func promptVersion(of key: CredentialKey) -> CredentialVersion? { base.version(of: key) }

    func promptLoad(_ key: CredentialKey) -> StoredCredential? {
        work.withLock { $0.take() }?()
        return base.load(key)
    }

    func promptEnd(_ session: UUID, for key: CredentialKey) throws {
        try check()
        ended.withLock { $0.append(session) }
        guard removesWhatEnds.withLock({ $0 }) else { return }
        base.end(session, for: key)
        base.delete(key)
    }

    private func check() throws {
        if isBroken.withLock({ $0 }) { throw CredentialStoreError.full(place: "disk") }
    }
}
