import DemoServers
import Nautilus
import NotesAPI
import Testing

@Suite("Rejected tokens over real sockets", .timeLimit(.minutes(10)))
struct RejectionWireTests {
    @Test("B6: a refresh that fails for now fails all who wait for it, once, and nothing is sent again")
    func transientFailure() async throws {
        let all = Barrier(opensAt: 20)
        let server = try await StubServer.start { request, _ in
            // For longer than a call waits for the next refresh.
            if request.path == "/oauth/token" { return .status(500, header: ["Retry-After": "60"]) }
            await all.pass()
            return .status(401)
        }
        let notes = try NotesService.test(NotesEnvironment(server))
        let results = await concurrently(20) { _ throws(NotesError) in try await Probe().schedule(with: notes) }
        let errors = results.failures().map(\.httpError)
        #expect(errors.map(\.kind) == Array(repeating: .authorization, count: 20))
        // The session is still there: the user need not sign in again.
        #expect(results.failures().map(\.reason) == Array(repeating: .unavailable, count: 20))
        #expect(errors.map(\.status) == Array(repeating: 401, count: 20))
        let paths = await server.requests.map(\.path)
        #expect(paths.filter { $0 == "/oauth/token" }.count == 1)
        #expect(paths.filter { $0 == "/v1/probe" }.count == 20)
        #expect(notes.token?.refreshToken == "first")
        await server.stop()
    }

    @Test("B8: a fresh token that is rejected again surfaces its 401, after one refresh and two sends")
    func rejectedAgain() async throws {
        let server = try await StubServer.start { request, _ in
            request.path == "/oauth/token" ? .status(200, json: #"{"access_token":"new"}"#) : .status(401)
        }
        let notes = try NotesService.test(NotesEnvironment(server))
        let error = await #expect(throws: NotesError.self) { try await Probe().schedule(with: notes) }
        #expect(error?.reason == .signedOut)
        #expect(error?.httpError.kind == .status(401))
        #expect(await server.requests.map(\.path) == ["/v1/probe", "/oauth/token", "/v1/probe"])
        await server.stop()
    }

    @Test(
        "B16: a 403, and a 401 for want of scope, refresh nothing",
        arguments: [(403, #"Bearer error="invalid_token""#), (401, #"Bearer error="insufficient_scope""#)]
    )
    func notRejected(status: Int, challenge: String) async throws {
        let server = try await StubServer.start { _, _ in .status(status, header: ["WWW-Authenticate": challenge]) }
        let notes = try NotesService.test(NotesEnvironment(server))
        let error = await #expect(throws: NotesError.self) { try await Probe().schedule(with: notes) }
        #expect(error?.httpError.status == status)
        #expect(error?.reason == .forbidden)
        #expect(await server.requests.map(\.path) == ["/v1/probe"])
        await server.stop()
    }

    @Test("B19: a reply without a refresh token keeps the old one, and the next refresh is paid with it")
    func withoutRotation() async throws {
        let server = try await StubServer.start { request, number in
            if request.path == "/oauth/token" { return .status(200, json: #"{"access_token":"access-\#(number)"}"#) }
            return number.isMultiple(of: 3) ? .status(200) : .status(401)
        }
        let notes = try NotesService.test(NotesEnvironment(server))
        try await Probe().schedule(with: notes)
        #expect(notes.token?.refreshToken == "first")
        #expect(notes.token?.lifetime == nil)
        try await Probe().schedule(with: notes)
        let requests = await server.requests
        let refreshes = requests.filter { $0.path == "/oauth/token" }.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(refreshes == Array(repeating: "grant_type=refresh_token&refresh_token=first", count: 2))
        #expect(
            requests.filter { $0.path == "/v1/probe" }.map(\.authorization)
                == ["Bearer old", "Bearer access-2", "Bearer access-2", "Bearer access-5"]
        )
        await server.stop()
    }
}
