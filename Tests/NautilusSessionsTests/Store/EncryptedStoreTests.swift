import Foundation
import Nautilus
import NautilusSessions
import TestSupport
import Testing

/// A cipher's promises, without any encryption: bytes that come back with the same key and context only.
private struct NamedCipher: CredentialCipher {
    struct Mismatch: Error {}

    let name: String

    private func seal(of context: Data) -> Data { Data("\(name) ".utf8) + context + Data(" ".utf8) }

    func seal(_ bytes: Data, context: Data) -> Data { seal(of: context) + Data(bytes.reversed()) }

    func open(_ sealed: Data, context: Data) throws -> Data {
        let seal = seal(of: context)
        guard sealed.starts(with: seal) else { throw Mismatch() }
        return Data(sealed.dropFirst(seal.count).reversed())
    }
}

/// A store that takes no notes of ends.
private struct DeafStore: StoreInFront {
    let base: EncryptedStore<MemoryStore>

    func pass(_ operation: StoreOperation) async throws {
        if operation == .end { throw CredentialStoreError.full(place: "disk") }
    }
}

@Suite("EncryptedStore")
struct EncryptedStoreTests {
    private static let key = CredentialKey(issuer: "api.test", account: "anna")
    private static func sealed(_ base: MemoryStore, with name: String = "k1") -> EncryptedStore<MemoryStore> {
        EncryptedStore(base, cipher: NamedCipher(name: name))
    }

    @Test("a credential is encrypted in the base, and comes back; all else is the base's")
    func roundTrip() async throws {
        let base = MemoryStore()
        let store = Self.sealed(base)
        #expect(try await store.load(Self.key) == nil)
        let secret = Data("s3cret".utf8)
        let stored = StoredCredential(session: UUID(), number: 3, refreshCount: 4, content: secret, unanswered: 2)
        try await store.save(stored, for: Self.key)
        #expect(try await store.load(Self.key) == stored)
        let kept = try #require(base.load(Self.key))
        #expect(String(decoding: kept.content, as: UTF8.self).contains("terc3s"))
        #expect((kept.session, kept.number, kept.refreshCount, kept.unanswered) == (stored.session, 3, 4, 2))
        #expect(try await store.version(of: Self.key) == base.version(of: Self.key))
        let lock = try await store.lock(Self.key)
        #expect(lock != nil && base.lock(Self.key) == nil)
        #expect(try await store.end(stored.session, for: Self.key) == stored)
        #expect(base.load(Self.key) == nil)
        try await store.delete(Self.key)
        try await store.save(stored, for: Self.key)
        #expect(try await store.load(Self.key) == stored)
        #expect("\(store)" == "EncryptedStore(MemoryStore)")
    }

    @Test("the end of a session is no secret, and told to those who have no key")
    func expired() async throws {
        let base = MemoryStore()
        let expired = StoredCredential(session: UUID(), content: Data(), hasExpired: true)
        try await Self.sealed(base).save(expired, for: Self.key)
        #expect(try await Self.sealed(base, with: "k2").load(Self.key) == expired)
    }

    @Test("a record sealed with another key, or for another account or session, is not read, and stays")
    func foreign() async throws {
        let base = MemoryStore()
        let stored = StoredCredential(session: UUID(), content: Data("s3cret".utf8))
        try await Self.sealed(base).save(stored, for: Self.key)
        let kept = try #require(base.load(Self.key))
        await #expect(throws: CredentialStoreError.sealedOtherwise(issuer: "api.test", session: stored.session)) {
            try await Self.sealed(base, with: "k2").load(Self.key)
        }
        #expect(base.load(Self.key) == kept)
        let moved = CredentialKey(issuer: "api.test", account: "bert")
        base.save(kept, for: moved)
        await #expect(throws: CredentialStoreError.self) { try await Self.sealed(base).load(moved) }
        base.save(StoredCredential(session: UUID(), content: kept.content), for: Self.key)
        await #expect(throws: CredentialStoreError.self) { try await Self.sealed(base).load(Self.key) }
    }

    @Test("a record from before the encryption is read only with readingPlain")
    func plain() async throws {
        let base = MemoryStore()
        let stored = StoredCredential(session: UUID(), content: Data(#"{"value":"anna-1"}"#.utf8))
        base.save(stored, for: Self.key)
        await #expect(throws: CredentialStoreError.self) { try await Self.sealed(base).load(Self.key) }
        let store = EncryptedStore(base, cipher: NamedCipher(name: "k1"), readingPlain: true)
        #expect(try await store.load(Self.key) == stored)
        try await store.save(stored, for: Self.key)
        #expect(try await Self.sealed(base).load(Self.key) == stored)
        // A record that is encrypted with another key is not taken for plain.
        try await Self.sealed(base, with: "k2").save(stored, for: Self.key)
        await #expect(throws: CredentialStoreError.self) { try await store.load(Self.key) }
    }

    @Test("a session whose key is lost is told so, not signed out, and its record stays until somebody signs in or out")
    func session() async throws {
        try await TokenWorld.run { world in
            let first = world.process(store: Self.sealed(world.store))
            try await first.signIn(world.server.signIn("anna", at: world.date))
            let kept = try #require(world.store.load(world.key))
            let second = world.process(store: Self.sealed(world.store, with: "k2"))
            let other = SessionError.Kind.store(.sealedOtherwise(issuer: "api.test", session: kept.session))
            #expect(await world.call(second).sessionKind == other)
            let error = await #expect(throws: SessionError.self) { try await second.restore() }
            #expect(error?.kind == other)
            #expect(world.store.load(world.key) == kept)
            #expect(await world.call(first).token == "anna-1")

            try await second.signOut()
            #expect(world.store.load(world.key) == nil)
            try await second.signIn(world.server.signIn("bert", at: world.date))
            #expect(await world.call(second).token == "bert-1")
        }
    }

    @Test("a session's own record under another cipher key goes on in a process that knows it")
    func ownSession() async throws {
        try await TokenWorld.run { world in
            let session = world.process(store: Self.sealed(world.store))
            try await session.signIn(world.server.signIn("anna", at: world.date))
            let stored = try #require(try await Self.sealed(world.store).load(world.key))
            try await Self.sealed(world.store, with: "k2").save(stored, for: world.key)
            #expect(await world.call(session).token == "anna-1")
            #expect(session.isSignedIn)
        }
    }

    @Test("another session under another cipher key ends this process's session", arguments: [false, true])
    func anotherSession(isSignedOutFirst: Bool) async throws {
        try await TokenWorld.run { world in
            let first = world.process(store: Self.sealed(world.store))
            try await first.signIn(world.server.signIn("anna", at: world.date))
            #expect(await world.call(first).token == "anna-1")
            let second = world.process(store: Self.sealed(world.store, with: "k2"))
            if isSignedOutFirst { try await second.signOut() }
            try await second.signIn(world.server.signIn("bert", at: world.date))
            let kept = try #require(world.store.load(world.key))
            // It has begun in a session that is over; the next ones hear what is stored.
            #expect(await world.call(first).token == nil)
            let other = SessionError.Kind.store(.sealedOtherwise(issuer: "api.test", session: kept.session))
            #expect(await world.call(first).sessionKind == other)
            #expect(!first.isSignedIn && first.id == nil)
            #expect(world.server.carried == ["anna-1"])
            #expect(await world.call(second).token == "bert-1")
            #expect(world.store.load(world.key) == kept)
        }
    }

    @Test("a session saved first under another cipher key counts, and not an unsaved sign-in")
    func savedFirst() async throws {
        try await TokenWorld.run { world in
            let first = world.process(store: Self.sealed(world.store))
            try await first.signIn(world.server.signIn("anna", at: world.date))
            let lock = try #require(world.store.lock(world.key))
            await #expect(throws: SessionError.self) {
                try await first.signIn(world.server.signIn("bert", at: world.date))
            }
            let second = world.process(store: Self.sealed(world.store, with: "k2"))
            let carl = world.server.signIn("carl", at: world.date)
            lock.unlock()
            try await second.signIn(carl)
            try await world.sleep(.seconds(120))
            #expect(await world.call(second).token == "carl-1")
            #expect(await world.call(first).token == nil)
        }
    }

    @Test("a session's own record under another cipher key is removed by a sign-out", arguments: [true, false])
    func removed(isKnown: Bool) async throws {
        try await TokenWorld.run { world in
            let store = DeafStore(base: Self.sealed(world.store))
            let session = world.process(store: store)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            let stored = try #require(try await Self.sealed(world.store).load(world.key))
            try await Self.sealed(world.store, with: "k2").save(stored, for: world.key)
            let leaving = isKnown ? session : world.process(store: store)
            try await leaving.signOut()
            #expect(world.store.load(world.key) == nil)
            #expect(world.store.version(of: world.key) == nil)
        }
    }

    @Test("a record that breaks off at any byte is an error, never nobody, and never another credential")
    func truncated() async throws {
        let base = MemoryStore()
        let stored = StoredCredential(session: UUID(), content: Data(#"{"value":"anna-1"}"#.utf8))
        try await Self.sealed(base).save(stored, for: Self.key)
        let kept = try #require(base.load(Self.key))
        let seal = kept.content.count - stored.content.count
        for count in 0..<seal {
            base.save(StoredCredential(session: stored.session, content: kept.content.prefix(count)), for: Self.key)
            for readsPlain in [false, true] {
                let store = EncryptedStore(base, cipher: NamedCipher(name: "k1"), readingPlain: readsPlain)
                await #expect(throws: CredentialStoreError.sealedOtherwise(issuer: "api.test", session: stored.session))
                {
                    try await store.load(Self.key)
                }
            }
        }
    }
}
