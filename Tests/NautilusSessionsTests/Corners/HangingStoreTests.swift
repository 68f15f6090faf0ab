import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusSessions

/// A store of which some operations never return, cancelled or not.
private final class HangingStore: StoreInFront {
    typealias Operation = StoreOperation

    let base: MemoryStore
    private let clock: ManualClock
    /// How long something hangs; by default for ever, as far as a session is concerned.
    private let time: Duration
    private let hanging = Locked<Set<Operation>>([])

    init(_ base: MemoryStore, clock: ManualClock, time: Duration = .seconds(1_000_000)) {
        self.base = base
        self.time = time
        self.clock = clock
    }

    /// From now on these never return; what hangs already stays so.
    func hang(_ operations: Set<Operation>) { hanging.withLock { $0 = operations } }

    func pass(_ operation: Operation) async {
        guard hanging.withLock({ $0.contains(operation) }) else { return }
        await BackgroundTask.start { [clock, time] in try? await clock.sleep(for: time) }.value
    }
}

@Suite("A store that hangs for ever, and ignores cancellation")
struct HangingStoreTests {
    private struct GetNotesInTime: Request {
        typealias Result = String
        var route: HttpRoute { ["notes"] }
        var deadline: Duration? { .seconds(5) }
    }

    /// The operations that a session is asked for while its store hangs.
    enum Action: CaseIterable {
        case restore, credential, refresh, signIn, signOut, flush, call

        func run(_ session: Session<ApiToken>, in world: TokenWorld) async {
            switch self {
            case .restore: _ = try? await session.restore()
            case .credential: _ = try? await session.credential()
            case .refresh:
                guard let credential = session.current else { return }
                _ = try? await session.refresh(rejecting: credential)
            case .signIn: try? await session.signIn(world.server.signIn("bert", at: world.date))
            case .signOut: try? await session.signOut()
            case .flush: try? await session.flush()
            case .call: _ = await world.call(session)
            }
        }
    }

    /// Runs `body` with a session of a token that serves still or has expired, known or not, and a store that hangs.
    private static func each(
        _ operation: HangingStore.Operation,
        _ body: @escaping @Sendable (TokenWorld, Session<ApiToken>, HangingStore) async throws -> Void
    ) async throws {
        for (isKnown, hasExpired) in [(true, true), (true, false), (false, true), (false, false)] {
            try await TokenWorld.run { world in
                let store = HangingStore(world.store, clock: world.clock)
                let first = world.process(store: store)
                try await first.signIn(world.server.signIn("anna", at: world.date))
                if hasExpired { try await world.sleep(.seconds(3600)) }
                store.hang([operation])
                try await body(world, isKnown ? first : world.process(store: store), store)
            }
        }
    }

    @Test(
        "every action over a hanging store returns within three minutes",
        arguments: HangingStore.Operation.allCases,
        Action.allCases
    )
    fileprivate func returns(operation: HangingStore.Operation, action: Action) async throws {
        try await Self.each(operation) { world, session, _ in
            let watch = Stopwatch(world.clock)
            await action.run(session, in: world)
            #expect(watch.elapsed <= .seconds(180))
        }
    }

    @Test("a flush during a sign-in returns within three minutes", arguments: HangingStore.Operation.allCases)
    fileprivate func flush(operation: HangingStore.Operation) async throws {
        try await Self.each(operation) { world, session, _ in
            let credential = world.server.signIn("bert", at: world.date)
            let signIn = BackgroundTask.start { try? await session.signIn(credential) }
            try await world.sleep(.seconds(1))
            let watch = Stopwatch(world.clock)
            await Action.flush.run(session, in: world)
            await signIn.value
            #expect(watch.elapsed <= .seconds(180))
        }
    }

    @Test(
        "a look that hangs costs a call the limit, the next one costs it a second, and later calls nothing for that long",
        arguments: [HangingStore.Operation.version, .load]
    )
    fileprivate func overdue(operation: HangingStore.Operation) async throws {
        try await TokenWorld.run { world in
            let store = HangingStore(world.store, clock: world.clock)
            let session = world.process(store: store)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            // So that the record is loaded, too.
            world.store.save(try #require(world.store.load(session.key)), for: session.key)
            store.hang([operation])
            for (pause, cost) in [(0, 31), (0, 0), (15, 0), (15, 1), (0, 0)] {
                try await world.sleep(.seconds(pause))
                let watch = Stopwatch(world.clock)
                async let call = world.call(session)
                async let another = world.call(session)
                let tokens = try await [call.get(), another.get()]
                #expect(tokens == ["anna-1", "anna-1"])
                #expect(watch.elapsed == .seconds(cost))
            }
        }
    }

    @Test("a deadline that passes in a look at the store is the deadline, and the call was not sent")
    func deadline() async throws {
        try await TokenWorld.run { world in
            let store = HangingStore(world.store, clock: world.clock)
            try await world.process().signIn(world.server.signIn("anna", at: world.date))
            store.hang([.load, .version])
            let session = world.process(store: store)
            let service = world.api.with { $0.retrierFactory = session.retrierFactory }
            let watch = Stopwatch(world.clock)
            let error = await GetNotes().with { $0.deadline = .seconds(2) }.result(with: service).error
            #expect(watch.elapsed == .seconds(2))
            #expect(error?.kind == .deadline(.seconds(2)))
            #expect(error?.delivery == .notSent)
        }
    }

    @Test(
        "once a hanging store works again, the first call goes by what it says",
        arguments: [HangingStore.Operation.version, .load],
        [true, false]
    )
    fileprivate func recovered(operation: HangingStore.Operation, isSignedIn: Bool) async throws {
        try await TokenWorld.run { world in
            let store = HangingStore(world.store, clock: world.clock)
            let (session, other) = (world.process(store: store), world.process())
            if isSignedIn {
                try await other.signIn(world.server.signIn("anna", at: world.date))
                try await session.restore()
            } else {
                try await session.restore()
                try await other.signIn(world.server.signIn("anna", at: world.date))
            }
            // So that the record is loaded, too.
            world.store.save(try #require(world.store.load(session.key)), for: session.key)
            store.hang([operation])
            _ = await world.call(session)
            store.hang([])
            // The last look in the background, which hangs still.
            _ = await world.call(session)
            try await world.sleep(.seconds(30))
            if isSignedIn { try await other.signOut() }
            let result = await world.call(session)
            #expect(session.isSignedIn == !isSignedIn)
            #expect(result.token == (isSignedIn ? nil : "anna-1"))
        }
    }

    @Test(
        "a sign-in that the store has taken, though late or unseen, is not stored again over a later one of another process",
        arguments: [[.save], [.load], [.save, .load]] as [Set<HangingStore.Operation>]
    )
    fileprivate func storedUnseen(operations: Set<HangingStore.Operation>) async throws {
        try await TokenWorld.run { world in
            let store = HangingStore(world.store, clock: world.clock, time: .seconds(60))
            let (session, other) = (world.process(store: store), world.process())
            store.hang(operations)
            let bert = world.server.signIn("bert", at: world.date)
            let isTold = (try? await session.signIn(bert)) != nil
            #expect(isTold == !operations.contains(.save))
            // From here on it tries in vain to save once more what it was not told of.
            if operations.contains(.save) { store.hang([.lock]) }
            try await world.sleep(.seconds(31))
            #expect(try world.store.load(world.key)?.credential(as: ApiToken.self) == bert)
            #expect(await world.call(session).token == "bert-1")
            try await other.signIn(world.server.signIn("carl", at: world.date))
            // Nor can it look whether its record is there still.
            store.hang([.load])
            try await world.sleep(.seconds(120))
            #expect(try world.store.load(world.key)?.credential(as: ApiToken.self).value == "carl-1")
            store.hang([])
            try await world.sleep(.seconds(120))
            _ = await world.call(session)
            try await world.sleep(.seconds(120))
            #expect(await world.call(session).token == "carl-1")
        }
    }

    @Test(
        "a sign-in stored late does not come back after its sign-out in another process",
        arguments: [[.save], [.load], [.save, .load]] as [Set<HangingStore.Operation>]
    )
    fileprivate func storedUnseenAndSignedOut(operations: Set<HangingStore.Operation>) async throws {
        try await TokenWorld.run { world in
            let store = HangingStore(world.store, clock: world.clock, time: .seconds(60))
            let (session, other) = (world.process(store: store), world.process())
            store.hang(operations)
            try? await session.signIn(world.server.signIn("bert", at: world.date))
            if operations.contains(.save) { store.hang([.lock]) }
            try await world.sleep(.seconds(31))
            #expect(try await other.restore())
            // It removes the note of the end with the record.
            try await other.signOut()
            store.hang([.load])
            try await world.sleep(.seconds(240))
            #expect(world.store.load(world.key) == nil)
            store.hang([])
            try await world.sleep(.seconds(120))
            _ = await world.call(session)
            #expect(await world.call(session).token == nil)
            #expect(try await world.process().restore() == false)
        }
    }

    @Test("a call with a deadline ends by then", arguments: HangingStore.Operation.allCases)
    fileprivate func deadline(operation: HangingStore.Operation) async throws {
        try await Self.each(operation) { world, session, _ in
            let watch = Stopwatch(world.clock)
            _ = try? await GetNotesInTime().schedule(
                with: world.api.with { $0.retrierFactory = session.retrierFactory }
            )
            #expect(watch.elapsed <= .seconds(5))
        }
    }

    @Test(
        "a call or a look that is cancelled ends at once",
        arguments: HangingStore.Operation.allCases,
        [Action.restore, .credential, .refresh, .call]
    )
    fileprivate func cancelled(operation: HangingStore.Operation, action: Action) async throws {
        try await Self.each(operation) { world, session, _ in
            let watch = Stopwatch(world.clock)
            let task = BackgroundTask.start { await action.run(session, in: world) }
            try await world.sleep(.seconds(1))
            task.cancel()
            await task.value
            #expect(watch.elapsed == .seconds(1))
        }
    }

    @Test(
        "the error of a hanging store says for how long it has not answered",
        arguments: [.version, .end] as [HangingStore.Operation]
    )
    fileprivate func kind(operation: HangingStore.Operation) async throws {
        try await TokenWorld.run { world in
            let store = HangingStore(world.store, clock: world.clock)
            store.hang([operation])
            let watch = Stopwatch(world.clock)
            let error = await #expect(throws: SessionError.self) {
                try await world.process(store: store).restore()
                _ = try await SharedStore<ApiToken>(
                    store: store,
                    key: world.key,
                    clock: world.clock,
                    random: world.random,
                    sharing: CredentialSharing(lockWait: .zero)
                ).end(UUID())
            }
            #expect(error?.kind == .storeTimeout(operation == .end ? .seconds(10) : .seconds(30)))
            #expect(watch.elapsed == (operation == .end ? .seconds(10) : .seconds(30)))
        }
    }

    @Test("a look that is given up by its caller does not tell that the store fails")
    func cancelledLook() async throws {
        try await TokenWorld.run { world in
            let store = HangingStore(world.store, clock: world.clock)
            let session = world.process(store: store)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            let events = session.events
            store.hang([.version])
            let look = BackgroundTask.start { _ = try? await session.restore() }
            try await world.sleep(.seconds(1))
            look.cancel()
            await look.value
            store.hang([])
            try await session.signOut()
            for await event in events.prefix(1) {
                guard case .signedOut = event else { return #expect(Bool(false), "\(event)") }
            }
        }
    }

    @Test("a save that was given up does not undo a later one, of this process or of another")
    func lateSave() async throws {
        try await TokenWorld.run { world in
            let store = HangingStore(world.store, clock: world.clock, time: .seconds(1_000))
            let session = world.process(store: store)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try await world.sleep(.seconds(3600))
            // The note hangs, and the refresh goes on without it. Its result is not saved before the note.
            store.hang([.save])
            async let call = world.call(session)
            try await world.sleep(.seconds(1))
            store.hang([])
            #expect(await call.token == "anna-2")
            // A user in the place of the first needs the lock no more, which the hanging save keeps all the same.
            let credential = world.server.signIn("bert", at: world.date)
            let signIn = BackgroundTask.start { try? await session.signIn(credential) }
            try await world.sleep(.seconds(900))
            await signIn.value
            #expect(world.store.lock(world.key) == nil)
            #expect(world.store.load(world.key) == nil, "that ends her session, which needs no lock")
            try await world.sleep(.seconds(1_000))
            #expect(try world.store.load(world.key)?.credential(as: ApiToken.self).value == "bert-1")
            #expect(world.store.lock(world.key) != nil)
            #expect(world.server.refreshes == ["anna-1"])
        }
    }
}
