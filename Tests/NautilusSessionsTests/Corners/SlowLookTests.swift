import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusSessions

@Suite("The user of a call, over a slow store")
struct SlowLookTests {
    /// A store of which each look takes a while, as one over a network does.
    private struct SlowLooks: StoreInFront {
        let base: MemoryStore
        let clock: ManualClock
        let delay = Locked(Duration.zero)
        /// Whether it can be read; which sessions have been ended is told all the same.
        let isReadable = Locked(true)

        init(_ world: TokenWorld) { (base, clock) = (world.store, world.clock) }

        func pass(_ operation: StoreOperation) async throws {
            if operation == .load, !isReadable.withLock({ $0 }) { throw CredentialStoreError.full(place: "disk") }
            let delay = delay.withLock { $0 }
            guard operation == .version, delay > .zero else { return }
            await BackgroundTask.start { [clock] in try? await clock.sleep(for: delay) }.value
        }
    }

    /// Tells when a call has its retrier, and so has begun.
    private struct Telling: RetrierFactory {
        let base: any RetrierFactory
        let began: Locked<Bool>
        var anonymous: any RetrierFactory { base.anonymous }
        func create<R: Request>(for request: R) -> any Retrier {
            defer { began.withLock { $0 = true } }
            return base.create(for: request)
        }
    }

    @Test("a call that began as one user does not go out as another who signs in elsewhere while the store is slow")
    func slowLook() async throws {
        try await TokenWorld.run { world in
            let store = SlowLooks(world)
            let session = world.process(store: store)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try await session.restore()
            let other = world.process()
            try await other.restore()
            store.delay.withLock { $0 = .seconds(2) }
            #expect(session.current?.credential.value == "anna-1")
            async let call = world.call(session)
            try await world.sleep(.seconds(1))
            try await other.signIn(world.server.signIn("bert", at: world.date))
            let result = await call
            #expect(result.refreshError != nil || result.token == "anna-1", "\(result)")
            #expect(!world.server.carried.contains("bert-1"))
        }
    }

    @Test("a call does not go out as another user where only the end of the user before is known")
    func slowLookAfterEnd() async throws {
        try await TokenWorld.run { world in
            let store = SlowLooks(world)
            let session = world.process(store: store)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            let other = world.process()
            try await other.signIn(world.server.signIn("bert", at: world.date))
            store.isReadable.withLock { $0 = false }
            #expect(await world.call(session).token == nil)
            store.isReadable.withLock { $0 = true }
            store.delay.withLock { $0 = .seconds(2) }
            async let call = world.call(session)
            try await world.sleep(.seconds(1))
            try await other.signIn(world.server.signIn("carl", at: world.date))
            let result = await call
            #expect(result.isSuperseded, "\(result)")
            #expect(world.server.carried == [])
            // A call of now goes out as the present user.
            store.delay.withLock { $0 = .zero }
            #expect(await world.call(session).token == "carl-1")
        }
    }

    @Test("a call's body does not go out as the next user, however long the store takes")
    func slowLookWithBody() async throws {
        struct SaveNote: Request {
            typealias Result = Void
            var method: HttpMethod { .post }
            var route: HttpRoute { ["notes"] }
            var body: HttpBody { .form(["text": "anna's diary"]) }
        }
        try await TokenWorld.run { world in
            let store = SlowLooks(world)
            let session = world.process(store: store)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            let other = world.process()
            try await other.restore()
            world.server.transport.on(.post, "/notes", .status(204))
            // Shorter than the limit of 30 s.
            store.delay.withLock { $0 = .seconds(25) }
            let service = world.api.with { $0.retrierFactory = session.retrierFactory }
            async let call: Void? = try? SaveNote().schedule(with: service)
            try await world.sleep(.seconds(20))
            try await other.signIn(world.server.signIn("bert", at: world.date))
            _ = await call
            let sent = world.server.transport.attempts(at: .post, "/notes").map { $0.header["X-Api-Token"] }
            #expect(sent == [], "anna's diary was saved as \(sent)")
        }
    }

    @Test("a call made while nobody was signed in does not go out as the user who signs in elsewhere")
    func slowLookOfNobody() async throws {
        try await TokenWorld.run { world in
            let store = SlowLooks(world)
            let (session, other) = (world.process(store: store), world.process())
            #expect(try await session.restore() == false)
            store.delay.withLock { $0 = .seconds(2) }
            async let call = world.call(session)
            try await world.sleep(.seconds(1))
            try await other.signIn(world.server.signIn("bert", at: world.date))
            _ = await call
            #expect(world.server.carried == [])
        }
    }

    @Test("with a prompt store, no call goes out as the next user", arguments: 0..<60 as Range<UInt64>)
    func promptLook(seed: UInt64) async throws {
        try await TokenWorld.run(seed: seed) { world in
            let session = try await world.signedIn()
            let other = world.process()
            try await other.restore()
            let began = Locked(false)
            let bert = world.server.signIn("bert", at: world.date)
            let service = world.api.with {
                $0.retrierFactory = Telling(base: session.authorization, began: began)
            }
            async let call: Void = { _ = try? await GetNotes().schedule(with: service) }()
            while !began.withLock({ $0 }) { await Task.yield() }
            try await other.signIn(bert)
            await call
            #expect(!world.server.carried.contains("bert-1"))
        }
    }

    @Test("a call that began after another user had signed in elsewhere is that user's")
    func changedBefore() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let other = world.process()
            try await other.signIn(world.server.signIn("bert", at: world.date))
            #expect(session.current?.credential.value == "anna-1")
            #expect(await world.call(session).token == "bert-1")
        }
    }

    @Test("a call that began after the server had ended the session elsewhere fails as expired")
    func expiredBefore() async throws {
        try await TokenWorld.run { world in
            let (session, other) = (try await world.signedIn(), world.process())
            try await other.restore()
            world.server.endSessions()
            try await world.sleep(.seconds(3600))
            for process in [session, other, world.process()] {
                guard case .sessionExpired? = await world.call(process).refreshError else {
                    Issue.record("it has not failed as what it is")
                    continue
                }
            }
            #expect(world.server.carried == [])
        }
    }

    @Test("a retrier of one's own sends nothing again for a user who has signed out elsewhere during its backoff")
    func ownRetrier() async throws {
        try await TokenWorld.run { world in
            let (session, other) = (try await world.signedIn(), world.process())
            try await other.restore()
            let transport = ScriptedTransport(
                .status(503, header: [.retryAfter: "20"]),
                .reply(text: "a"),
                clock: world.clock
            )
            let service = world.api.with {
                $0.transport = transport
                $0.retrierFactory = .composed(
                    session.authorization { token, request in request.header["X-Api-Token"] = token.value },
                    BackoffRetrier.factory()
                )
            }
            async let call = GetNotes().result(with: service)
            try await world.sleep(.seconds(5))
            try await other.signOut()
            let result = await call
            guard case .signedOut? = result.refreshError else { return #expect(Bool(false), "\(result)") }
            #expect(transport.count == 1)
        }
    }

    @Test("a call that began after the user had signed out elsewhere fails as signed out")
    func signedOutBefore() async throws {
        try await TokenWorld.run { world in
            let (session, other) = (try await world.signedIn(), world.process())
            try await other.restore()
            try await session.signOut()
            for process in [session, other, world.process()] {
                guard case .signedOut? = await world.call(process).refreshError else {
                    Issue.record("it has not failed as what it is")
                    continue
                }
            }
            #expect(world.server.carried == [])
        }
    }

    @Test("a call does not go out as a user who signs in elsewhere during a look at the store")
    func refreshedBefore() async throws {
        try await TokenWorld.run { world in
            let store = ChangedMeanwhile(world.store)
            let session = world.process(store: store)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            let other = world.process()
            try await world.sleep(.seconds(3600))
            #expect(await world.call(other).token == "anna-2")
            store.change(bySigningIn: world.server.signIn("bert", at: world.date), world.key)
            #expect(await world.call(session).refreshError != nil)
            #expect(world.server.carried == ["anna-2"])
        }
    }

    @Test("a process that has just started goes on as who was signed in when its first call began, or not at all")
    func firstCall() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn()
            let store = ChangedMeanwhile(world.store)
            let session = world.process(store: store)
            store.change(bySigningIn: world.server.signIn("bert", at: world.date), world.key)
            let result = await world.call(session)
            if case .superseded? = result.refreshError {} else { Issue.record("\(result)") }
            #expect(world.server.carried == [])
            #expect(await world.call(session).token == "bert-1")
        }
    }

    @Test("neither a refresh nor a sign-out during a look at the store makes a call another user's")
    func firstCallAndChanges() async throws {
        try await TokenWorld.run { world in
            let id = try #require(try await world.signedIn().id)
            let store = ChangedMeanwhile(world.store)
            let session = world.process(store: store)
            let refreshed = ApiToken(value: "anna-1", expires: world.date.addingTimeInterval(7200))
            store.change { $0.save(try StoredCredential(session: id, credential: refreshed), for: world.key) }
            #expect(await world.call(session).token == "anna-1")
            #expect(session.current?.credential == refreshed)

            let next = ChangedMeanwhile(world.store)
            next.change { _ = $0.end(id, for: world.key) }
            let result = await world.call(world.process(store: next))
            if case .signedOut? = result.refreshError {} else { Issue.record("\(result)") }
        }
    }

    /// A store that tells its record at once, and in which another process changes something as soon as it has done so
    /// once.
    private final class ChangedMeanwhile: PromptStore, StoreInFront {
        let base: MemoryStore
        private let change = Locked<(@Sendable (MemoryStore) throws -> Void)?>(nil)

        init(_ base: MemoryStore) { self.base = base }

        func change(_ change: @escaping @Sendable (MemoryStore) throws -> Void) {
            self.change.withLock { $0 = change }
        }

        func change(bySigningIn token: ApiToken, _ key: CredentialKey) {
            change { base in
                if let before = base.load(key)?.session { base.end(before, for: key) }
                base.save(try StoredCredential(session: UUID(), number: 9, credential: token), for: key)
            }
        }

        func promptVersion(of key: CredentialKey) -> CredentialVersion? { base.version(of: key) }
        func promptLoad(_ key: CredentialKey) throws -> StoredCredential? {
            let loaded = base.load(key)
            try change.withLock { $0.take() }?(base)
            return loaded
        }
    }
}
