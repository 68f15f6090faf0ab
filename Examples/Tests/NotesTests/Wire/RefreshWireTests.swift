import DemoServers
import Nautilus
import NotesAPI
import Testing

@Suite("Refreshes over real sockets", .timeLimit(.minutes(10)))
struct RefreshWireTests {
    @Test("B1: a hundred calls rejected together cause one refresh and 200 requests, and all succeed")
    func storm() async throws {
        let server = try await DemoServer.start(
            environment: "staging",
            barriers: .init(unauthorized: Barrier(opensAt: 100))
        )
        let notes = try NotesService.test(server, await server.signInExpired())
        let results = await concurrently(100) { number throws(NotesError) in
            try await GetNote(id: number % 30 + 1).schedule(with: notes)
        }
        #expect(results.successes().count == 100)
        let counters = await server.counters
        #expect(counters.refreshes == 1)
        #expect(counters.requests == 200)
        #expect(counters.answers == [401: 100, 200: 100])
        #expect(counters.reuseDetected == 0)
        await server.stop()
    }

    @Test("B2: a 401 that comes after the refresh is answered with its result, not with another refresh")
    func lateRejection() async throws {
        let late = Barrier()
        let server = try await StubServer.start { request, _ in
            if request.path == "/oauth/token" { return .status(200, json: #"{"access_token":"new","expires_in":60}"#) }
            if request.authorization == "Bearer new" { return .status(200) }
            if request.path == "/v1/late" { await late.pass() }
            return .status(401)
        }
        let notes = try NotesService.test(NotesEnvironment(server))
        async let lateCall: Void = Probe(route: ["late"]).schedule(with: notes)
        await late.waitForArrivals(1)
        try await Probe().schedule(with: notes)
        await late.open()
        try await lateCall
        let requests = await server.requests
        #expect(requests.filter { $0.path == "/oauth/token" }.count == 1)
        #expect(requests.filter { $0.path == "/v1/late" }.map(\.authorization) == ["Bearer old", "Bearer new"])
        await server.stop()
    }

    @Test("B3: six calls with a token known to have expired cause one refresh and six requests")
    func knownExpiry() async throws {
        let server = try await DemoServer.start(environment: "staging")
        let notes = try NotesService.test(server, await server.signInExpired(), lifetime: .zero)
        let results = await concurrently(6) { _ throws(NotesError) in try await ListNotes().schedule(with: notes) }
        #expect(results.successes().count == 6)
        let counters = await server.counters
        #expect(counters.refreshes == 1)
        #expect(counters.answers == [200: 6])
        await server.stop()
    }

    @Test("B4: the call that started the refresh is cancelled and ends at once; the others get the new token")
    func cancelledStarter() async throws {
        let refresh = Barrier()
        let server = try await DemoServer.start(environment: "staging", barriers: .init(refresh: refresh))
        let pair = await server.signInExpired()
        let notes = try NotesService.test(server, pair, lifetime: .zero)
        let starter = Task { try await GetNote(id: 1).schedule(with: notes) }
        await refresh.waitForArrivals(1)
        async let others = concurrently(9) { _ throws(NotesError) in try await GetNote(id: 2).schedule(with: notes) }
        starter.cancel()
        // The refresh is still held: the call does not wait for it.
        guard case .failure(let error as NotesError) = await starter.result else {
            Issue.record("the cancelled call succeeded")
            return
        }
        #expect(error.reason == .cancelled)
        await refresh.open()
        #expect(await others.successes().count == 9)
        let counters = await server.counters
        #expect(counters.refreshes == 1)
        #expect(counters.answers == [200: 9])
        #expect(notes.token?.accessToken != pair.accessToken)
        await server.stop()
    }

    @Test("B7: invalid_grant ends the session: one event, and no later call reaches the network")
    func invalidGrant() async throws {
        let server = try await DemoServer.start(environment: "staging")
        let notes = try NotesService.test(server, await server.signInExpired())
        let events = notes.sessionEvents
        await server.endSessions()
        let results = await concurrently(20) { _ throws(NotesError) in try await GetNote(id: 1).schedule(with: notes) }
        #expect(results.failures().map(\.reason) == Array(repeating: .signedOut, count: 20))
        let before = await server.counters
        #expect(before.refreshes == 1)

        let error = await #expect(throws: NotesError.self) { try await GetNote(id: 1).schedule(with: notes) }
        #expect(error?.reason == .signedOut)
        #expect(await server.counters == before)
        #expect(notes.token == nil)

        try notes.signIn(.test(notes.environment))
        var expiries = 0
        for await event in events {
            if case .sessionExpired = event { expiries += 1 }
            if case .signedIn = event { break }
        }
        #expect(expiries == 1)
        await server.stop()
    }

    @Test("B13: a call that starts during a refresh waits for it and is sent once, with the new token")
    func startsDuringRefresh() async throws {
        let refresh = Barrier()
        let server = try await DemoServer.start(environment: "staging", barriers: .init(refresh: refresh))
        let feed = EventFeed()
        let notes = try NotesService.test(server, await server.signInExpired(), observer: feed)
        async let first = GetNote(id: 1).schedule(with: notes)
        await refresh.waitForArrivals(1)
        async let second = ListNotes().response(with: notes).trace
        await feed.waitForCalls(of: "ListNotes", count: 1)
        await refresh.open()
        _ = try await first
        #expect(try await second.attempts.count == 1)
        let counters = await server.counters
        #expect(counters.answers == [401: 1, 200: 2])
        #expect(counters.refreshes == 1)
        await server.stop()
    }

    @Test("each expiry causes one refresh, however many there are, and no refresh token is spent twice")
    func repeatedExpiry() async throws {
        let server = try await DemoServer.start(environment: "staging")
        let notes = try NotesService.test(server, await server.signInExpired())
        for expiry in 1...5 {
            let results = await concurrently(20) { _ throws(NotesError) in
                try await GetNote(id: 1).schedule(with: notes)
            }
            #expect(results.successes().count == 20)
            #expect(await server.counters.refreshes == expiry)
            await server.revokeAccessTokens()
        }
        #expect(await server.counters.reuseDetected == 0)
        await server.stop()
    }
}
