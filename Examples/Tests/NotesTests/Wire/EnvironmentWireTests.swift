import DemoServers
import Nautilus
import NotesAPI
import Testing

@Suite("Environments over real sockets", .timeLimit(.minutes(10)))
struct EnvironmentWireTests {
    @Test("staging and production side by side: each refreshes once, and neither sees the other's token")
    func sideBySide() async throws {
        let servers = try await (
            staging: DemoServer.start(environment: "staging"), production: DemoServer.start(environment: "production")
        )
        let staging = try NotesService.test(servers.staging, await servers.staging.signInExpired())
        let production = try NotesService.test(servers.production, await servers.production.signInExpired())
        let results = await concurrently(40) { number throws(NotesError) in
            try await GetNote(id: 1).schedule(with: number.isMultiple(of: 2) ? staging : production)
        }
        #expect(results.successes().count == 40)
        for server in [servers.staging, servers.production] {
            let counters = await server.counters
            #expect(counters.refreshes == 1)
            #expect(counters.answers[200] == 20)
            #expect(counters.unknownTokens == 0)
            await server.stop()
        }
    }

    @Test("a token of staging is refused by production's service, and production hears nothing of it")
    func wrongEnvironment() async throws {
        let staging = try await DemoServer.start(environment: "staging")
        let production = try await DemoServer.start(environment: "production")
        let token = Token(await staging.signIn(), lifetime: nil, environment: NotesEnvironment(staging))
        let service = NotesService(NotesEnvironment(production))
        #expect(throws: NotesService.WrongEnvironment.self) { try service.signIn(token) }
        let error = await #expect(throws: NotesError.self) { try await GetNote(id: 1).schedule(with: service) }
        #expect(error?.reason == .signedOut)
        #expect(await production.counters.requests == 0)
        await staging.stop()
        await production.stop()
    }

    @Test("a request that leads to production under staging's service carries no token, and its 401 refreshes nothing")
    func otherOrigin() async throws {
        let staging = try await DemoServer.start(environment: "staging")
        let production = try await DemoServer.start(environment: "production")
        let service = try NotesService.test(staging, await staging.signIn())
        let stray = Probe(route: ["notes", 1], url: production.origin + "/v1")
        let error = await #expect(throws: NotesError.self) { try await stray.schedule(with: service) }
        #expect(error?.httpError.status == 401)
        let counters = await production.counters
        #expect(counters.unauthorized == 1)
        #expect(counters.unknownTokens == 0)
        #expect(await staging.counters.refreshes == 0)
        await staging.stop()
        await production.stop()
    }

    @Test("a server that drops, refuses and slows half of all requests still creates every note exactly once")
    func faults() async throws {
        // No rate limit among the faults: its second is a real one.
        let limit = FaultPlan.Fault.tooManyRequests(retryAfter: 1)
        let plans = (0...).lazy.map { FaultPlan(seed: $0, rate: 0.5) }
        let plan = try #require(plans.first { plan in !(0..<300).contains { plan.fault(ofRequest: $0) == limit } })
        let server = try await DemoServer.start(environment: "staging", plan: plan)
        // Only its timeout ends a call whose kept connection is closed under it, as Foundation makes of it on Linux.
        let notes = try NotesService.test(server, await server.signIn(), maxAttempts: 30, clock: ContinuousClock())
        let results = await concurrently(60) { number throws(NotesError) in
            try await CreateNote(title: "Note \(number)", text: "…").response(with: notes)
        }
        let responses = results.successes()
        #expect(Set(responses.map(\.body.id)).count == 60)
        let counters = await server.counters
        #expect(counters.notesCreated == 60)
        #expect(counters.requests == responses.reduce(0) { $0 + $1.trace.attempts.count })
        #expect(counters.requests < 300)
        #expect(counters.dropped > 0)
        #expect(counters.refreshes == 0)
        await server.stop()
    }

    @Test("a note that is deleted twice counts as deleted, and is gone")
    func deletion() async throws {
        let server = try await DemoServer.start(environment: "staging")
        let notes = try NotesService.test(server, await server.signIn())
        try await DeleteNote(id: 3).schedule(with: notes)
        try await DeleteNote(id: 3).schedule(with: notes)
        let error = await #expect(throws: NotesError.self) { try await GetNote(id: 3).schedule(with: notes) }
        #expect(error?.reason == .notFound)
        let last = try await ListNotes(page: 3).schedule(with: notes)
        #expect(last.pageCount == 3)
        #expect(last.notes.count == 9)
        await server.stop()
    }
}
