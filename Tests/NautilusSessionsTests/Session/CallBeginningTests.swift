import Foundation
import Nautilus
import NautilusEnvironments
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusSessions

@Suite("The user of a call, from its beginning")
struct CallBeginningTests {
    private static func end(of isDone: Locked<Bool>, in world: TokenWorld) async throws {
        while !isDone.withLock({ $0 }) { try await world.sleep(.milliseconds(1)) }
    }

    @Test("a call with a completion handler does not go out as the next user", arguments: 0..<8 as Range<UInt64>)
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

    @Test("a call with a completion handler, made while nobody was signed in, gets no later user's credential")
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

    @Test("a call with a completion handler goes where it was selected", arguments: 0..<8 as Range<UInt64>)
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

    /// A store that can be read at once, and not by waiting.
    private struct AtOnce: StoreInFront, PromptStore {
        let base: MemoryStore

        func pass(_ operation: StoreOperation) async throws {
            if operation == .load { throw CredentialStoreError.other(type: "Waiting") }
        }

        func promptVersion(of key: CredentialKey) -> CredentialVersion? { base.version(of: key) }
        func promptLoad(_ key: CredentialKey) -> StoredCredential? { base.load(key) }
    }

    @Test("a store that can answer at once is read at once when a call begins")
    func readAtOnce() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn()
            #expect(await world.call(world.process(store: AtOnce(base: world.store))).token == "anna-1")
        }
    }

    /// A store whose operations take a while, and end with the task that asks for them.
    private struct Cancellable: StoreInFront {
        let base: MemoryStore
        let clock: ManualClock

        init(_ world: TokenWorld) { (base, clock) = (world.store, world.clock) }

        func pass(_ operation: StoreOperation) async throws {
            if operation != .lock { try await clock.sleep(for: .milliseconds(50)) }
        }
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
