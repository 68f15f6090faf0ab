import Foundation
import Nautilus
import NotesAPI
import Testing

@Suite("Redirects over real sockets", .timeLimit(.minutes(10)))
struct RedirectWireTests {
    @Test(
        "B17: a redirect to another host or port takes neither token nor key nor cookie along",
        arguments: [false, true]
    )
    func acrossOrigins(toOtherHost: Bool) async throws {
        let other = try await StubServer.start(answering: .status(200))
        let host = toOtherHost ? "localhost" : "127.0.0.1"
        let location = "http://\(host):\(other.port)/elsewhere"
        let server = try await StubServer.start(answering: .status(302, header: ["Location": location]))
        let notes = try NotesService.test(NotesEnvironment(server))
        try await Probe(header: [.cookie: "a=1", "X-Api-Key": "k"]).schedule(with: notes)
        #expect(await server.requests.map(\.authorization) == ["Bearer old"])
        #expect(await server.requests.map(\.cookie) == ["a=1"])
        #expect(await server.requests.map(\.apiKey) == ["k"])
        let arrived = await other.requests
        #expect(arrived.map(\.path) == ["/elsewhere"])
        #expect(arrived.map(\.authorization) == [nil])
        #expect(arrived.map(\.cookie) == [nil])
        #expect(arrived.map(\.apiKey) == [nil])
        await server.stop()
        await other.stop()
    }

    @Test("B17: a redirect within the origin keeps token, key and cookie")
    func withinOrigin() async throws {
        let server = try await StubServer.start(
            answering: .status(302, header: ["Location": "/moved"]),
            .status(200)
        )
        let notes = try NotesService.test(NotesEnvironment(server))
        try await Probe(header: [.cookie: "a=1", "X-Api-Key": "k"]).schedule(with: notes)
        let requests = await server.requests
        #expect(requests.map(\.path) == ["/v1/probe", "/moved"])
        #expect(requests.map(\.authorization) == ["Bearer old", "Bearer old"])
        #expect(requests.map(\.cookie) == ["a=1", "a=1"])
        #expect(requests.map(\.apiKey) == ["k", "k"])
        await server.stop()
    }

    @Test("B18: 307 and 308 send method and body again", arguments: [307, 308])
    func keepsBody(status: Int) async throws {
        let server = try await StubServer.start(
            answering: .status(status, header: ["Location": "/moved"]),
            .status(200)
        )
        let notes = try NotesService.test(NotesEnvironment(server))
        try await Probe(method: .post, body: .json(["a": 1])).schedule(with: notes)
        let requests = await server.requests
        #expect(requests.map(\.method) == ["POST", "POST"])
        #expect(requests.map(\.body) == Array(repeating: Data(#"{"a":1}"#.utf8), count: 2))
        #expect(requests.map(\.contentType) == ["application/json", "application/json"])
        await server.stop()
    }

    @Test("B18: 303 goes on with GET, without the body")
    func seeOther() async throws {
        let server = try await StubServer.start(
            answering: .status(303, header: ["Location": "/made"]),
            .status(200)
        )
        let notes = try NotesService.test(NotesEnvironment(server))
        try await Probe(method: .post, body: .json(["a": 1])).schedule(with: notes)
        let requests = await server.requests
        #expect(requests.map(\.method) == ["POST", "GET"])
        #expect(requests.map(\.body) == [Data(#"{"a":1}"#.utf8), Data()])
        #expect(requests.map(\.contentType) == ["application/json", nil])
        await server.stop()
    }
}
