import Foundation
import Nautilus
import NautilusTesting
import Testing

@testable import NautilusSessions

@Suite("A call belongs to whoever was signed in when it was made")
struct CallBeginningTests {
    private static func end(of isDone: Locked<Bool>, in world: TokenWorld) async throws {
        while !isDone.withLock({ $0 }) { try await world.sleep(.milliseconds(1)) }
    }

    @Test("one with a completion handler does not go out as the next user", arguments: 0..<8 as Range<UInt64>)
    func nextUser(seed: UInt64) async throws {
        try await TokenWorld.run(seed: seed) { world in
            let session = try await world.signedIn()
            let bert = world.server.signIn("bert", at: world.date)
            let service = world.api.with { $0.retrierFactory = session.authorization }
            let isDone = Locked(false)
            GetNotes().schedule(with: service, on: nil) { _ in isDone.withLock { $0 = true } }
            session.signOutNow()
            try await session.signIn(bert)
            try await Self.end(of: isDone, in: world)
            #expect(!world.server.carried.contains("bert-1"))
        }
    }

    @Test("one with a completion handler that was nobody's does not go out as the user who signs in")
    func nobody() async throws {
        for seed in 0..<8 as Range<UInt64> {
            try await TokenWorld.run(seed: seed) { world in
                let session = world.process()
                try await session.restore()
                let service = world.api.with { $0.retrierFactory = session.authorization }
                let isDone = Locked(false)
                GetNotes().schedule(with: service, on: nil) { _ in isDone.withLock { $0 = true } }
                try await session.signIn(world.server.signIn("anna", at: world.date))
                try await Self.end(of: isDone, in: world)
                #expect(world.server.carried == [])
            }
        }
    }

    @Test("one with a completion handler goes to the environment that was selected", arguments: 0..<8 as Range<UInt64>)
    func environment(seed: UInt64) async throws {
        try await TokenWorld.run(seed: seed) { world in
            let places = ["staging.test", "production.test"]
            let service = ServiceSwitch(0) {
                AnyHttpService(apiUrl: places[$0], transport: world.server.transport, clock: world.clock)
            }
            let isDone = Locked(false)
            GetNotes().schedule(with: service, on: nil) { _ in isDone.withLock { $0 = true } }
            service.select(1)
            try await Self.end(of: isDone, in: world)
            #expect(world.server.transport.attempts.map { $0.request.url.host() } == ["staging.test"])
        }
    }

    /// Tells when a call has its retrier, and so has begun.
    private struct Telling: RetrierFactory {
        let base: any RetrierFactory
        let begin: @Sendable () -> Void
        var descriptions: [RetryDescription] { base.descriptions }
        var signedOut: any RetrierFactory { base.signedOut }
        func create<R: Request>(for request: R) -> any Retrier {
            defer { begin() }
            return base.create(for: request)
        }
    }

    /// What another process does: a sign-in in one step.
    private static func replace(by user: String, in world: TokenWorld) throws {
        let old = world.store.load(world.key)
        if let old { world.store.end(old.session, for: world.key) }
        let token = world.server.signIn(user, at: world.date)
        let stored = try StoredCredential(session: UUID(), number: (old?.number ?? 0) + 1, credential: token)
        world.store.save(stored, for: world.key)
    }

    /// What the store has when a call begins, as far as this process does not know it.
    enum Change: CaseIterable, Sendable {
        /// Another process has renewed anna's token.
        case renewed
        /// Another process has signed anna out.
        case signedOut
    }

    private static func renew(in world: TokenWorld) throws {
        let stored = try #require(world.store.load(world.key))
        let token = ApiToken(value: "anna-2", expires: world.date.addingTimeInterval(3600))
        let renewed = try StoredCredential(session: stored.session, number: stored.number, credential: token)
        world.store.save(renewed, for: world.key)
    }

    @Test("nor does one whose first look finds a user who has signed in since it began", arguments: Change.allCases)
    func firstLook(change: Change) async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            try await session.restore()
            switch change {
            case .renewed: try Self.renew(in: world)
            case .signedOut:
                let stored = try #require(world.store.load(world.key))
                world.store.end(stored.session, for: world.key)
                world.store.delete(world.key)
            }
            let factory = Telling(base: session.authorization) { try? Self.replace(by: "bert", in: world) }
            let service = world.api.with { $0.retrierFactory = factory }
            _ = try? await GetNotes().schedule(with: service)
            #expect(world.server.carried == [])
        }
    }

    /// A store in which something happens between the look at its version and the load.
    private final class Interrupted: PromptVersions {
        let base: MemoryStore
        let interruption = Locked<(@Sendable () -> Void)?>(nil)

        init(_ base: MemoryStore) { self.base = base }

        func load(_ key: CredentialKey) async throws -> StoredCredential? {
            let interrupt = interruption.withLock { interruption in
                defer { interruption = nil }
                return interruption
            }
            interrupt?()
            return base.load(key)
        }
        func save(_ stored: StoredCredential, for key: CredentialKey) async throws { base.save(stored, for: key) }
        func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential? {
            base.end(session, for: key)
        }
        func delete(_ key: CredentialKey) async throws { base.delete(key) }
        func version(of key: CredentialKey) async throws -> CredentialVersion? { base.version(of: key) }
        func promptVersion(of key: CredentialKey) -> CredentialVersion? { base.version(of: key) }
        func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? { base.lock(key) }
    }

    @Test("nor one whose look has the version of the record before")
    func betweenVersionAndLoad() async throws {
        try await TokenWorld.run { world in
            let store = Interrupted(world.store)
            let session = world.process(store: store)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try Self.renew(in: world)
            store.interruption.withLock { $0 = { try? Self.replace(by: "bert", in: world) } }
            _ = await world.call(session)
            #expect(world.server.carried == [])
        }
    }

    /// A store whose operations take a while, and end with the task that asks for them.
    private final class Cancellable: CredentialStore {
        let base: MemoryStore
        let clock: ManualClock

        init(_ world: TokenWorld) { (base, clock) = (world.store, world.clock) }

        private func pass() async throws { try await clock.sleep(for: .milliseconds(50)) }

        func load(_ key: CredentialKey) async throws -> StoredCredential? {
            try await pass()
            return base.load(key)
        }
        func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
            try await pass()
            base.save(stored, for: key)
        }
        func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential? {
            try await pass()
            return base.end(session, for: key)
        }
        func delete(_ key: CredentialKey) async throws {
            try await pass()
            base.delete(key)
        }
        func version(of key: CredentialKey) async throws -> CredentialVersion? {
            try await pass()
            return base.version(of: key)
        }
        func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? { base.lock(key) }
    }

    @Test("a sign-out, and a sign-in, whose caller leaves has ended the session before when it returns")
    func cancelledSignOut() async throws {
        for signsIn in [false, true] {
            try await TokenWorld.run { world in
                let session = world.process(store: Cancellable(world))
                try await session.signIn(world.server.signIn("anna", at: world.date))
                let bert = world.server.signIn("bert", at: world.date)
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        if signsIn { try? await session.signIn(bert) } else { try? await session.signOut() }
                    }
                    try? await world.sleep(.milliseconds(10))
                    group.cancelAll()
                }
                // The process ends here.
                let next = world.process()
                try await next.restore()
                #expect(next.current?.credential.value != "anna-1", "signs in: \(signsIn)")
            }
        }
    }
}
