import DemoServers
import Nautilus
import NotesAPI
import Testing

@Suite("Scopes and expiry of the notes over real sockets", .timeLimit(.minutes(10)))
struct ScopeWireTests {
    @Test("a token that may only read reads; to create or to delete it is refused, and nothing is refreshed")
    func readOnly() async throws {
        let server = try await DemoServer.start(environment: "staging")
        let notes = try NotesService.test(server, await server.signIn(scope: DemoScope("notes.read")))
        #expect(try await GetNote(id: 1).schedule(with: notes).id == 1)
        let errors = [
            await #expect(throws: NotesError.self) {
                try await CreateNote(title: "a", text: "b", idempotencyKey: "c").schedule(with: notes)
            },
            await #expect(throws: NotesError.self) { try await DeleteNote(id: 1).schedule(with: notes) },
        ]
        for error in errors {
            #expect(error?.reason == .forbidden)
            #expect(error?.httpError.status == 403)
            let challenge = error?.httpError.response?.header["WWW-Authenticate"]
            #expect(challenge == #"Bearer error="insufficient_scope", scope="notes.write""#)
        }
        let counters = await server.counters
        #expect(counters.answers == [200: 1, 403: 2])
        #expect(counters.unauthorized == 0)
        #expect(counters.refreshes == 0)
        #expect(counters.notesCreated == 0)
        #expect(await server.titles.count == 30)
        await server.stop()
    }

    @Test("tokens that expire on order cause one refresh, and the next ones have the lifetime that was set")
    func expiry() async throws {
        let server = try await DemoServer.start(environment: "staging")
        let notes = try NotesService.test(server, await server.signIn())
        _ = try await GetNote(id: 1).schedule(with: notes)
        await server.setAccessTokenLifetime(.seconds(7200))
        await server.expireAccessTokens()
        _ = try await GetNote(id: 1).schedule(with: notes)
        #expect(notes.token?.lifetime == .seconds(7200))
        // Far from the end: the machine's own time goes on.
        await server.advanceTime(by: .seconds(7000))
        _ = try await GetNote(id: 1).schedule(with: notes)
        #expect(await server.counters.refreshes == 1)
        #expect(await server.counters.answers == [200: 3, 401: 1])
        await server.advanceTime(by: .seconds(200))
        _ = try await GetNote(id: 1).schedule(with: notes)
        #expect(await server.counters.refreshes == 2)
        await server.stop()
    }
}
