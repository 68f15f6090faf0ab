import Nautilus
import NautilusOAuth
import TestSupport
import Testing

@Suite("One refresh among processes")
struct SharedRefreshTests {
    static let seeds: Range<UInt64> = 0..<25

    @Test(
        "twenty processes find the credential expired at once: one refresh, and all go out with its fruit",
        arguments: seeds
    )
    func twenty(seed: UInt64) async throws {
        try await SessionWorld.run(seed: seed) { world in
            let first = try await world.signedIn()
            let processes = [first] + (1..<20).map { _ in world.process() }
            try await world.sleep(.seconds(3600))
            let results = await world.calls(processes)
            #expect(results.okCount == 20)
            #expect(world.server.spent == ["anna-r1"])
            #expect(world.server.tokenRequests == 1)
            #expect(world.server.carried == Array(repeating: "anna-a2", count: 20))
        }
    }

    @Test("twenty processes are rejected at once: one refresh", arguments: seeds)
    func rejected(seed: UInt64) async throws {
        try await SessionWorld.run(seed: seed) { world in
            let first = try await world.signedIn()
            let processes = [first] + (1..<20).map { _ in world.process() }
            world.server.revokeAccessTokens()
            let results = await world.calls(processes)
            #expect(results.okCount == 20)
            #expect(world.server.tokenRequests == 1)
            #expect(world.server.reuses == 0)
        }
    }

    @Test("a refresh by another process is noticed before the next attempt, without a request")
    func noticed() async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            #expect(await world.call(second).isOk)
            world.server.revokeAccessTokens()
            #expect(await world.call(first).isOk)
            #expect(await world.call(second).isOk)
            #expect(world.server.tokenRequests == 1)
            #expect(world.server.carried == ["anna-a1", "anna-a1", "anna-a2", "anna-a2"])
        }
    }

    @Test("a credential is saved before any call goes out with it")
    func savedFirst() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.server.transport.on(.get, "/notes") { request, _ in
                let stored = try await world.stored(session)?.credential.accessToken
                return .reply(text: request.header[.authorization] == "Bearer \(stored ?? "")" ? "ok" : "not saved")
            }
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).isOk)
            #expect(try await world.stored(session)?.unanswered == 0)
        }
    }

    @Test("the note that a token is being sent is in the store before it is sent")
    func noted() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn(limits: SessionWorld.impatient)
            let notes = Locked<[Int?]>([])
            world.server.transport.on(.post, "/token") { _, _ in
                let stored = try await world.stored(session)
                notes.withLock { $0.append(stored?.unanswered) }
                return .status(503)
            }
            try await world.sleep(.seconds(3600))
            _ = await world.call(session)
            #expect(notes.withLock { $0 } == [1])
            // The server has answered that it did nothing, so the token is as good as before.
            #expect(try await world.stored(session)?.unanswered == 0)
        }
    }

    @Test("a holder of the lock that never gives it back costs a typed error after exactly the wait, and no session")
    func lockTimeout() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let lock = try #require(try await world.store.lock(session.key))
            try await world.sleep(.seconds(3600))
            let start = world.clock.now
            let result = await world.call(session)
            #expect(result.sessionKind == .lockTimeout(.seconds(30)))
            #expect(start.duration(to: world.clock.now) == .seconds(30))
            #expect(world.server.tokenRequests == 0)
            lock.unlock()
            try await world.sleep(.seconds(30))
            #expect(await world.call(session).isOk)
            #expect(world.server.tokenRequests == 1)
        }
    }

    @Test("a lock that is freed within the wait is taken")
    func lockFreed() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let lock = try #require(try await world.store.lock(session.key))
            try await world.sleep(.seconds(3600))
            async let result = world.call(session)
            try await world.sleep(.seconds(29))
            lock.unlock()
            #expect(await result.isOk)
        }
    }

    @Test("accounts are refreshed beside one another: no one's lock is another's")
    func accounts() async throws {
        try await SessionWorld.run { world in
            let (anna, bert) = (world.process(account: "anna"), world.process(account: "bert"))
            try await anna.signIn(world.server.signIn("anna", at: world.date))
            try await bert.signIn(world.server.signIn("bert", at: world.date))
            let lock = try await world.store.lock(anna.key)
            try await world.sleep(.seconds(3600))
            let start = world.clock.now
            #expect(await world.call(bert).isOk)
            #expect(start.duration(to: world.clock.now) == .milliseconds(110))
            #expect(world.server.spent == ["bert-r1"])
            lock?.unlock()
        }
    }

    @Test("within the leeway, processes go on with the valid credential while one of them refreshes", arguments: seeds)
    func leeway(seed: UInt64) async throws {
        try await SessionWorld.run(seed: seed) { world in
            let first = try await world.signedIn()
            let processes = [first] + (1..<5).map { _ in world.process() }
            for process in processes { try await process.restore() }
            try await world.sleep(.seconds(3590))
            #expect(await world.calls(processes).okCount == 5)
            #expect(Set(world.server.carried.prefix(5)) == ["anna-a1"])
            try await world.sleep(.seconds(1))
            #expect(await world.calls(processes).okCount == 5)
            #expect(world.server.tokenRequests == 1)
            #expect(Set(world.server.carried.suffix(5)) == ["anna-a2"])
        }
    }

    @Test(
        "B20: a wall clock that is an hour off, or is set while a credential serves, causes no refresh loop",
        arguments: [-7_200, -3_600, -1, 0, 1, 3_600, 7_200] as [Int],
        [false, true]
    )
    func wallClock(error: Int, isSetMeanwhile: Bool) async throws {
        try await SessionWorld.run { world in
            if !isSetMeanwhile { world.setWallClockError(.seconds(error)) }
            let session = try await world.signedIn()
            if isSetMeanwhile { world.setWallClockError(.seconds(error)) }
            // Half an hour, a call each minute, in this process and in one that has just started.
            for _ in 0..<30 {
                #expect(await world.call(session).isOk)
                #expect(await world.call(world.process()).isOk)
                try await world.sleep(.seconds(60))
            }
            // A clock that was set past the expiry costs one refresh, for all processes; any other costs none.
            #expect(world.server.tokenRequests == (isSetMeanwhile && error >= 3_600 ? 1 : 0))
        }
    }
}
