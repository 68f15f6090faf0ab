import DemoServers
import SessionCommands
import Testing

/// In each of them, access token 1 is the first user's, 2 the second one's, and 3 what a refresh brings.
@Suite("A sign-in or sign-out in another process", .serialized, .timeLimit(.minutes(10)))
struct OtherUserTests {
    @Test("a sign-in elsewhere ends the session of a refresh at once, and is stored after the refresh")
    func signIn() async throws {
        let refresh = Barrier()
        try await SessionWorld.run(barriers: .init(refresh: refresh)) { world in
            try await world.signIn()
            let tokens = await world.tokens(isExpired: false)
            let (first, second) = (try await world.start(), try await world.start())
            try first.tell(.call)
            await refresh.waitForArrivals(1)
            try second.tell(.signIn(tokens))
            await refresh.open()

            // Whether the other one's session has ended by the end of its refresh is chance.
            let call = try await first.reply()
            let failures = [[], ["authorization", "superseded"], ["authorization", "signedOut"]]
            #expect(failures.contains(call.failure))
            #expect(call.sent == (call.failure.isEmpty ? [3] : []))
            #expect(try await second.reply().failure == [])
            #expect(try await world.hasStored(tokens))
            for child in [first, second] { #expect(try await child.ask(.call).sent == [2]) }
            #expect(await world.server.counters.refreshes == 1)
        }
    }

    @Test("a sign-in during an overlong refresh begins its session, ends the other, and is stored later")
    func impatientSignIn() async throws {
        let refresh = Barrier()
        try await SessionWorld.run(barriers: .init(refresh: refresh)) { world in
            try await world.signIn()
            let tokens = await world.tokens(isExpired: false)
            let (first, second) = (try await world.start(), try await world.start(lockWait: .zero))
            try first.tell(.call)
            await refresh.waitForArrivals(1)
            #expect(try await second.ask(.signIn(tokens)).failure == ["lockTimeout"])
            #expect(try await second.ask(.call).sent == [2])
            #expect(try await world.hasStored(tokens) == false)

            await refresh.open()
            let call = try await first.reply()
            // The end of the session is stored, and the next user is not yet: it looks like a sign-out.
            #expect(call.failure == ["authorization", "signedOut"])
            #expect(call.sent == [])
            let recovery = try await second.ask(.awaitEvent("storeRecovered"))
            #expect(recovery.events == ["signedIn", "storeFailed lockTimeout", "storeRecovered"])
            #expect(try await world.hasStored(tokens))
            for child in [first, second] { #expect(try await child.ask(.call).sent == [2]) }
            #expect(await world.server.counters.refreshes == 1)
        }
    }

    @Test("a sign-in elsewhere while a call is answered 401 ends the call")
    func signInDuringCall() async throws {
        let rejection = Barrier()
        try await SessionWorld.run(barriers: .init(unauthorized: rejection)) { world in
            try await world.signIn(isExpired: false)
            await world.server.revokeAccessTokens()
            let tokens = await world.tokens(isExpired: false)
            let (first, second) = (try await world.start(), try await world.start())
            try first.tell(.call)
            await rejection.waitForArrivals(1)
            #expect(try await second.ask(.signIn(tokens)).failure == [])
            await rejection.open()

            let call = try await first.reply()
            #expect(call.failure == ["authorization", "superseded"])
            #expect(call.sent == [1])
            #expect(try await first.ask(.call).sent == [2])
            #expect(try await first.finish().events == ["signedIn", "signedIn"])
            let counters = await world.server.counters
            #expect(counters.refreshes == 0)
            #expect(counters.answers == [401: 1, 200: 1])
        }
    }

    @Test("a sign-in elsewhere while a refresh cannot be saved is stored in its place")
    func signInOnFullDisk() async throws {
        guard SessionFault.reachesSystemCalls else { return }
        try await SessionWorld.run { world in
            try await world.signIn()
            let tokens = await world.tokens(isExpired: false)
            // The first tries nothing again by itself: while it does, the lock may be free for a moment.
            // Its flush waits as long as a sign-in elsewhere may wait for the lock, before it revokes what it has
            // refreshed.
            let first = try await world.start(lockWait: .milliseconds(50), pause: .seconds(3600))
            let second = try await world.start(lockWait: .zero)
            _ = try await first.ask(DiskFailure.full.plan(fromSave: 2))
            #expect(try await first.ask(.call).sent == [3])
            try #require(try await second.ask(.signIn(tokens)).failure == ["lockTimeout"])
            let call = try await first.ask(.call)
            #expect(call.failure == ["authorization", "signedOut"])
            #expect(call.sent == [])

            _ = try await first.ask(.mend)
            _ = try await first.ask(.flush)
            _ = try await second.ask(.awaitEvent("storeRecovered"))
            #expect(try await world.hasStored(tokens))
            for child in [first, second] { #expect(try await child.ask(.call).sent == [2]) }
            #expect(await world.server.counters.refreshes == 1)
        }
    }

    @Test("a sign-out during a refresh in another process waits for its result, and ends that as well")
    func signOut() async throws {
        let refresh = Barrier()
        try await SessionWorld.run(barriers: .init(refresh: refresh)) { world in
            try await world.signIn()
            let (first, second) = (try await world.start(), try await world.start())
            // No call: whether that is quicker than the revocation is chance.
            try first.tell(.credential)
            await refresh.waitForArrivals(1)
            try second.tell(.signOut)
            await refresh.open()

            // The sign-out needs no lock: whether it comes before the end of the refresh is chance.
            let failure = try await first.reply().failure
            #expect([[], ["signedOut"]].contains(failure))
            #expect(try await second.reply().failure == [])
            #expect(try await world.stored() == nil)
            for child in [first, second] {
                #expect(try await child.ask(.call).failure == ["authorization", "signedOut"])
            }
            let events = failure.isEmpty ? ["signedIn", "refreshed", "signedOut"] : ["signedIn", "signedOut"]
            #expect(try await first.finish().events == events)
            let counters = await world.server.counters
            #expect(counters.refreshes == 1)
            #expect(counters.tokensRevoked == 1)
            #expect(counters.requests == 0)
        }
    }

    @Test("a sign-out elsewhere during an overlong refresh ends the session at the server, too")
    func impatientSignOut() async throws {
        let refresh = Barrier()
        try await SessionWorld.run(barriers: .init(refresh: refresh)) { world in
            try await world.signIn()
            let (first, second) = (try await world.start(), try await world.start(lockWait: .zero))
            try first.tell(.call)
            await refresh.waitForArrivals(1)
            // F23: its effect is complete, though the lock is held.
            #expect(try await second.ask(.signOut).failure == [])
            #expect(try await second.ask(.call).failure == ["authorization", "signedOut"])

            await refresh.open()
            #expect(try await first.reply().failure == ["authorization", "signedOut"])
            #expect(try await world.stored() == nil)
            let counters = await world.server.counters
            #expect(counters.refreshes == 1)
            #expect(counters.reuseDetected == 0)
            #expect(counters.tokensRevoked == 1)
            #expect(counters.requests == 0)
        }
    }

    @Test("a sign-out elsewhere while a call is answered 401 ends the call without a refresh")
    func signOutDuringCall() async throws {
        let rejection = Barrier()
        try await SessionWorld.run(barriers: .init(unauthorized: rejection)) { world in
            try await world.signIn(isExpired: false)
            await world.server.revokeAccessTokens()
            let (first, second) = (try await world.start(), try await world.start())
            try first.tell(.call)
            await rejection.waitForArrivals(1)
            #expect(try await second.ask(.signOut).failure == [])
            await rejection.open()

            let call = try await first.reply()
            #expect(call.failure == ["authorization", "signedOut"])
            #expect(call.sent == [1])
            #expect(try await world.stored() == nil)
            let counters = await world.server.counters
            #expect(counters.refreshes == 0)
            #expect(counters.tokensRevoked == 1)
            #expect(counters.requests == 1)
        }
    }
}
