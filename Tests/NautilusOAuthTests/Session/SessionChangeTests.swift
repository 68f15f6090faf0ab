import Nautilus
import NautilusOAuth
import NautilusStreams
import NautilusTraffic
import TestSupport
import Testing

@Suite("Sign-ins and sign-outs, here and in other processes")
struct SessionChangeTests {
    static let seeds: Range<UInt64> = 0..<25

    @Test("a process that starts later is signed in by its first call, or before when it asks")
    func restored() async throws {
        try await SessionWorld.run { world in
            _ = try await world.signedIn()
            let (second, third) = (world.process(), world.process())
            #expect(!second.isSignedIn)
            #expect(second.header.isEmpty)
            let isSignedIn = try await second.restore()
            #expect(isSignedIn)
            #expect(second.header[.authorization] == "Bearer anna-a1")
            #expect(await world.call(third).isOk)
            #expect(world.server.tokenRequests == 0)
        }
    }

    @Test("a listener that comes late hears of the latest event if it wants to")
    func lateListener() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let (late, plain) = (session.events(replayingLatest: true), session.events(replayingLatest: false))
            try await session.signOut()
            var names: [String] = []
            for await event in late.prefix(2) { names.append(event.name) }
            for await event in plain.prefix(1) { names.append(event.name) }
            #expect(names == ["signedIn", "signedOut", "signedOut"])
        }
    }

    @Test("nobody signed in: calls fail with that, and nothing is sent")
    func nobody() async throws {
        try await SessionWorld.run { world in
            let session = world.process()
            let isSignedIn = try await session.restore()
            #expect(!isSignedIn)
            let result = await world.call(session)
            #expect(result.error?.kind == .authorization)
            #expect(result.refreshError.map { "\($0)" } == RefreshError.signedOut.description)
            #expect(world.server.transport.count == 0)
        }
    }

    @Test("a sign-out empties the store, has the server forget the newest token, and is noticed elsewhere")
    func signOut() async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            try await second.restore()
            // Another process has refreshed: it is that token which has to be revoked.
            world.server.revokeAccessTokens()
            #expect(await world.call(first).isOk)
            try await second.signOut()
            #expect(world.server.revoked == ["anna-r2", "anna-a2"])
            #expect(try await world.stored(first) == nil)
            #expect(first.isSignedIn)
            let events = EventLog(first)
            #expect(await world.call(first).refreshError.map { "\($0)" } == RefreshError.signedOut.description)
            #expect(!first.isSignedIn)
            #expect(await events.names() == ["signedOut"])
        }
    }

    @Test("a sign-out of a process that has just started ends the session that is stored")
    func signOutFirst() async throws {
        try await SessionWorld.run { world in
            let first = try await world.signedIn()
            try await world.process().signOut()
            #expect(try await world.stored(first) == nil)
            #expect(world.server.revoked == ["anna-r1", "anna-a1"])
        }
    }

    @Test("a revocation that fails is told, and the user is signed out all the same")
    func revocationFails() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.server.transport.on(.post, "/revoke", .status(503))
            let error = await EndpointFixture.error { () async throws(SessionError) in try await session.signOut() }
            #expect(error?.kind == .notRevoked)
            #expect((error?.underlying as? OAuthError)?.kind == .unavailable)
            #expect(!session.isSignedIn)
            #expect(try await world.stored(session) == nil)
        }
    }

    @Test("a sign-in as another user elsewhere: calls that began before fail, later ones go out as the other")
    func otherUser() async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            let before = try await first.credential()
            try await second.signIn(world.server.signIn("bert", at: world.date))
            await #expect(throws: RefreshError.self) { try await first.credential(continuing: before) }
            #expect(await world.call(first).isOk)
            #expect(world.server.carried == ["bert-a1"])
        }
    }

    @Test(
        "a call that waits for its turn while another user signs in elsewhere goes out as the one who began it, or fails",
        arguments: seeds
    )
    func otherUserMeanwhile(seed: UInt64) async throws {
        try await SessionWorld.run(seed: seed) { world in
            let (first, second) = (try await world.signedIn(), world.process())
            let service = AnyHttpService(
                apiUrl: "api.test",
                interceptors: [ConcurrencyLimit(1)],
                retrierFactory: first.authorization,
                transport: world.server.transport,
                clock: world.clock
            )
            async let other = GetNotes().result(with: service)
            // It takes ten milliseconds.
            try await world.sleep(.milliseconds(1))
            async let call = GetNotes().result(with: service)
            try await world.sleep(.milliseconds(1))
            try await second.signIn(world.server.signIn("bert", at: world.date))
            _ = await other
            _ = await call
            #expect(Set(world.server.carried) == ["anna-a1"])
            // A process that has not seen the sign-in may say so once.
            _ = await world.call(first)
            #expect(await world.call(first).isOk)
            #expect(world.server.carried.last == "bert-a1")
        }
    }

    @Test("a call that begins while nobody is signed in does not go out as the user who signs in elsewhere meanwhile")
    func nobodyAtFirst() async throws {
        try await SessionWorld.run { world in
            let (first, second) = (world.process(), world.process())
            let service = AnyHttpService(
                apiUrl: "api.test",
                retrierFactory: first.authorization,
                transport: world.server.transport,
                clock: world.clock
            ).with {
                $0.asyncHeader = {
                    try await world.sleep(.seconds(1))
                    return [:]
                }
            }
            async let call = GetNotes().result(with: service)
            try await world.sleep(.milliseconds(500))
            try await second.signIn(world.server.signIn("bert", at: world.date))
            #expect(await call.refreshError.map { "\($0)" } == RefreshError.superseded.description)
            #expect(world.server.carried.isEmpty)
        }
    }

    @Test("a call that begins before the store has been read goes out as the user who is found there")
    func restoredMeanwhile() async throws {
        try await SessionWorld.run { world in
            _ = try await world.signedIn()
            let session = world.process()
            world.store.slowLoads(to: .seconds(1))
            #expect(await world.call(session).isOk)
            #expect(world.server.carried == ["anna-a1"])
        }
    }

    @Test(
        "a sign-in while a refresh is under way: its late result is dropped, and the store has the new user",
        arguments: seeds
    )
    func signInMeanwhile(seed: UInt64) async throws {
        try await SessionWorld.run(seed: seed) { world in
            let session = try await world.signedIn()
            try await world.sleep(.seconds(3600))
            async let call = world.call(session)
            try await world.sleep(.milliseconds(50))
            try await session.signIn(world.server.signIn("bert", at: world.date))
            #expect(await call.refreshError.map { "\($0)" } == RefreshError.superseded.description)
            try await world.sleep(.seconds(10))
            #expect(try await world.stored(session)?.credential.accessToken == "bert-a1")
            #expect(await world.call(session).isOk)
            #expect(world.server.carried == ["bert-a1"])
        }
    }

    @Test(
        "a sign-in takes the place of a session that is known, whatever the wall clock says",
        arguments: [Duration.seconds(-86_400 * 365), .zero, .seconds(86_400 * 365)]
    )
    func clockSet(error: Duration) async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            try await second.restore()
            world.setWallClockError(error)
            try await first.signIn(world.server.signIn("bert", at: world.date))
            #expect(await world.call(first).isOk)
            // Of one process that knows, and of one that has just started.
            for process in [second, world.process()] {
                try await process.signIn(world.server.signIn("carl", at: world.date))
                #expect(await world.call(process).isOk)
            }
            #expect(world.server.carried == ["bert-a1", "carl-a1", "carl-a1"])
            #expect(try await world.stored(first)?.credential.accessToken == "carl-a1")
        }
    }

    @Test("a session is numbered after the one whose place it takes, and a refresh keeps its number")
    func numbered() async throws {
        try await SessionWorld.run { world in
            let first = try await world.signedIn()
            try await first.signIn(world.server.signIn("bert", at: world.date))
            try await world.process().signIn(world.server.signIn("carl", at: world.date))
            #expect(try await world.stored(first)?.number == 3)
            try await world.sleep(.seconds(3600))
            try await first.restore()
            #expect(await world.call(first).isOk)
            #expect(try await world.stored(first)?.number == 3)
        }
    }

    @Test("a sign-in elsewhere waits for the refresh that holds the lock, and wins", arguments: seeds)
    func signInElsewhere(seed: UInt64) async throws {
        try await SessionWorld.run(seed: seed) { world in
            let (first, second) = (try await world.signedIn(), world.process())
            try await world.sleep(.seconds(3600))
            async let call = world.call(first)
            try await world.sleep(.milliseconds(50))
            try await second.signIn(world.server.signIn("bert", at: world.date))
            _ = await call
            #expect(try await world.stored(first)?.credential.accessToken == "bert-a1")
            try await first.restore()
            #expect(await world.call(first).isOk)
            #expect(world.server.carried.last == "bert-a1")
            #expect(world.server.reuses == 0)
        }
    }

    @Test("a sign-out while a refresh is under way: the store stays empty, and the call fails", arguments: seeds)
    func signOutMeanwhile(seed: UInt64) async throws {
        try await SessionWorld.run(seed: seed) { world in
            let session = try await world.signedIn()
            try await world.sleep(.seconds(3600))
            async let call = world.call(session)
            try await world.sleep(.milliseconds(50))
            try await session.signOut()
            #expect(await call.isSignedOut)
            try await world.sleep(.seconds(10))
            #expect(try await world.stored(session) == nil)
            #expect(!session.isSignedIn)
        }
    }

    @Test(
        "a token that is on its way when its session is replaced or ended is not sent again by a process that waits",
        arguments: seeds,
        [true, false]
    )
    func replacedWhileSent(seed: UInt64, isSignIn: Bool) async throws {
        try await SessionWorld.run(seed: seed) { world in
            let (first, second) = (try await world.signedIn(), world.process())
            try await second.restore()
            try await world.sleep(.seconds(3600))
            async let call = world.call(first)
            try await world.sleep(.milliseconds(50))
            async let other = world.call(second)
            try await world.sleep(.milliseconds(20))
            if isSignIn {
                try await first.signIn(world.server.signIn("bert", at: world.date))
            } else {
                try await first.signOut()
            }
            let end: RefreshError = isSignIn ? .superseded : .signedOut
            #expect(await call.refreshError.map { "\($0)" } == end.description)
            #expect(!(await other.isOk))
            #expect(world.server.tokenRequests == 1)
            #expect(world.server.reuses == 0)
        }
    }

    @Test("a sign-out elsewhere while this process waits for the lock to refresh: nothing is sent", arguments: seeds)
    func signedOutWhileWaiting(seed: UInt64) async throws {
        try await SessionWorld.run(seed: seed) { world in
            let (first, second) = (try await world.signedIn(), world.process())
            try await second.restore()
            let lock = try await world.store.lock(first.key)
            try await world.sleep(.seconds(3600))
            async let call = world.call(first)
            try await world.sleep(.milliseconds(500))
            try await world.store.delete(first.key)
            lock?.unlock()
            #expect(await call.isSignedOut)
            #expect(world.server.tokenRequests == 0)
            #expect(!first.isSignedIn)
        }
    }
}
