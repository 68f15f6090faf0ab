import Foundation
import Nautilus
import NautilusSessions
import Testing

/// How many sessions have been ended.
private actor Progress {
    /// Nil once it is all over.
    private(set) var ended: Int? = 0

    func end(_ number: Int?) { ended = number }
}

/// The promises that a session builds on, for every kind of store.
@Suite("Stores: locks, versions and whole credentials")
struct StorePromiseTests {
    @Test("a lock has one holder, in whichever store of the place, until it is given back", arguments: StoreSubject.all)
    func exclusive(_ subject: StoreSubject) async throws {
        let place = try subject.open()
        let (one, two) = (place.store(), place.store())
        let held = try await #require(one.lock(place.key))
        #expect(try await one.lock(place.key) == nil)
        #expect(try await two.lock(place.key) == nil)
        held.unlock()
        let next = try await #require(two.lock(place.key))
        #expect(try await one.lock(place.key) == nil)
        withExtendedLifetime(next) {}
    }

    @Test(
        "a session that is ended is shown no more, whoever holds the lock, nor is what is saved of it",
        arguments: StoreSubject.all
    )
    func ended(_ subject: StoreSubject) async throws {
        let place = try subject.open()
        let (one, two) = (place.store(), place.store())
        let held = try await #require(one.lock(place.key))
        try await one.save(.first, for: place.key)
        let version = try await two.version(of: place.key)
        #expect(try await two.end(UUID(), for: place.key) == nil)
        #expect(try await one.load(place.key) == .first, "of another session nothing changes")
        #expect(try await two.end(StoredCredential.first.session, for: place.key) == .first)
        #expect(try await one.load(place.key) == nil)
        #expect(try await one.version(of: place.key) != version)
        try await one.save(.first, for: place.key)
        #expect(try await two.load(place.key) == nil, "a process that has not heard of it")
        try await one.save(.second, for: place.key)
        #expect(try await two.load(place.key) == .second, "another session")
        try await one.delete(place.key)
        try await one.save(.first, for: place.key)
        #expect(try await two.load(place.key) == .first, "a delete forgets what was ended")
        withExtendedLifetime(held) {}
    }

    @Test("each end is a change, and the same one again is none", arguments: StoreSubject.all)
    func endedTwice(_ subject: StoreSubject) async throws {
        let place = try subject.open()
        let store = place.store()
        let sessions = [UUID(), UUID()]
        for session in sessions {
            try await store.save(StoredCredential(session: session, content: Data("token".utf8)), for: place.key)
            try await store.end(session, for: place.key)
            let version = try await store.version(of: place.key)
            try await store.end(session, for: place.key)
            #expect(try await store.version(of: place.key) == version)
        }
        for session in sessions {
            try await store.save(StoredCredential(session: session, content: Data("token".utf8)), for: place.key)
            #expect(try await store.load(place.key) == nil)
        }
    }

    @Test("a lock ends with its value", arguments: StoreSubject.all)
    func forgotten(_ subject: StoreSubject) async throws {
        let place = try subject.open()
        for _ in 1...3 { #expect(try await place.store().lock(place.key) != nil) }
    }

    @Test("giving a lock back twice does not take it from its next holder", arguments: StoreSubject.all)
    func twice(_ subject: StoreSubject) async throws {
        let place = try subject.open()
        let first = try await #require(place.store().lock(place.key))
        first.unlock()
        let second = try await #require(place.store().lock(place.key))
        first.unlock()
        #expect(try await place.store().lock(place.key) == nil)
        withExtendedLifetime((first, second)) {}
    }

    @Test("of a hundred processes that ask at once, one gets the lock", arguments: StoreSubject.all)
    func race(_ subject: StoreSubject) async throws {
        let place = try subject.open()
        let held = try await withThrowingTaskGroup(of: (any CredentialLock)?.self) { group in
            for _ in 1...100 { group.addTask { try await place.store().lock(place.key) } }
            return try await group.reduce(into: []) { locks, lock in locks.append(lock) }
        }
        #expect(held.count == 100)
        #expect(held.compactMap { $0 }.count == 1)
    }

    @Test("keys that differ in one part have their own credential, version and lock", arguments: StoreSubject.all)
    func keys(_ subject: StoreSubject) async throws {
        let place = try subject.open()
        let base = place.key
        let keys = [
            base, CredentialKey(issuer: base.issuer + "x", client: base.client, account: base.account),
            CredentialKey(issuer: base.issuer, client: "other", account: base.account),
            CredentialKey(issuer: base.issuer, client: base.client, account: "other"),
            CredentialKey(issuer: base.issuer, client: base.client),
        ]
        let store = place.store()
        var locks: [any CredentialLock] = []
        for (number, key) in keys.enumerated() {
            locks.append(try await #require(store.lock(key)))
            #expect(try await store.load(key) == nil)
            try await store.save(.numbered(number), for: key)
        }
        let versions = try await keys.asyncMap { try await store.version(of: $0) }
        try await store.delete(base)
        #expect(try await store.load(base) == nil)
        for (number, key) in keys.enumerated().dropFirst() {
            #expect(try await store.load(key)?.unanswered == number)
            #expect(try await store.version(of: key) == versions[number])
        }
        withExtendedLifetime(locks) {}
    }

    @Test("each save has a version of its own, and so has the first one after a delete", arguments: StoreSubject.all)
    func versions(_ subject: StoreSubject) async throws {
        let place = try subject.open()
        let (one, two) = (place.store(), place.store())
        var versions: Set<CredentialVersion> = []
        for number in 1...300 {
            // The same bytes, since the time within a tick and the size must not be all that tells them apart.
            try await (number.isMultiple(of: 2) ? one : two).save(.first, for: place.key)
            versions.insert(try #require(try await one.version(of: place.key)))
            #expect(try await two.version(of: place.key) == one.version(of: place.key))
            guard number.isMultiple(of: 100) else { continue }
            try await two.delete(place.key)
            #expect(try await one.version(of: place.key) == nil)
        }
        #expect(versions.count == 300)
    }

    @Test(
        "no load shows a session that had been ended before, though a delete forgets the end meanwhile",
        arguments: StoreSubject.all
    )
    func endedAndDeleted(_ subject: StoreSubject) async throws {
        let place = try subject.open()
        let (one, two) = (place.store(), place.store())
        let progress = Progress()
        async let late = {
            var late: [Int] = []
            while !Task.isCancelled, let before = await progress.ended {
                if let shown = try await two.load(place.key)?.number, shown <= before { late.append(shown) }
            }
            return late
        }()
        for number in 1...1_000 {
            let stored = StoredCredential(session: UUID(), number: number, content: Data("token".utf8))
            try await one.save(stored, for: place.key)
            try await one.end(stored.session, for: place.key)
            await progress.end(number)
            try await one.delete(place.key)
        }
        await progress.end(nil)
        #expect(try await late.isEmpty)
    }

    @Test("a thousand saves and loads at once never show half a credential", arguments: StoreSubject.all)
    func whole(_ subject: StoreSubject) async throws {
        let place = try subject.open()
        let stores = (place.store(), place.store())
        try await stores.0.save(.numbered(0), for: place.key)
        let loaded = try await withThrowingTaskGroup(of: StoredCredential?.self) { group in
            for number in 1...1_000 {
                let store = number % 4 < 2 ? stores.0 : stores.1
                group.addTask {
                    guard number.isMultiple(of: 2) else { return try await store.load(place.key) }
                    try await store.save(.numbered(number), for: place.key)
                    return nil
                }
            }
            return try await group.reduce(into: []) { loaded, stored in loaded.append(stored) }.compactMap { $0 }
        }
        #expect(loaded.count == 500)
        #expect(loaded.allSatisfy { $0 == .numbered($0.unanswered) })
    }
}

extension StoredCredential {
    /// Differs in every part from those of other numbers, its length included.
    fileprivate static func numbered(_ number: Int) -> StoredCredential {
        let token = String(repeating: "\(number) ", count: number * 7 % 1_000 + 1)
        return StoredCredential(session: first.session, content: Data(token.utf8), unanswered: number)
    }
}

extension Sequence {
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
