import Foundation
import Nautilus
import NautilusTesting
import NautilusURLSession
import ScriptedSockets
import Testing

@Suite("A connection that is kept", .timeLimit(.minutes(10)))
struct KeptConnectionTests {
    @Test("a kept connection is used again")
    func reused() async throws {
        let transport = URLSessionTransport()
        let script = ConformanceScript()
        try await ScriptedServer.run {
            try await script.serve($0)
        } whileOpen: { server in
            for _ in 0..<5 { _ = try await send(.get, server.url.appendingPathComponent("echo"), through: transport) }
            #expect(await server.connectionCount == 1)
        }
    }

    @Test("with URLSession, a request whose kept connection closes is maybeExecuted")
    func closedUnderRequest() async throws {
        let transport = URLSessionTransport()
        try await ScriptedServer.run { connection in
            let first = try await connection.readRequest()
            // The connection that the system may open for a repetition gets no answer either.
            guard first.path == "/first" else { return await connection.reset() }
            try await connection.respond()
            _ = try await connection.readRequest()
        } whileOpen: { server in
            _ = try await send(.get, server.url.appendingPathComponent("first"), through: transport)
            let failure = try await failure {
                try await send(.post, server.url.appendingPathComponent("second"), through: transport)
            }
            #expect(failure == .connectionLost)
            // Should this ever be 2 on Linux, the sentence about it in URLSessionTransport can go.
            #if os(Linux)
                #expect(await server.requests.map(\.path) == ["/first", "/second", "/second"])
            #else
                #expect(await server.requests.first?.path == "/first")
            #endif
        }
    }

    #if os(Linux)
        @Test(
            "libcurl repeats a header without its body on a closed kept connection, until the timeout",
            arguments: [HttpMethod.post, .put]
        )
        func closedUnderBody(method: HttpMethod) async throws {
            let (repeated, repetition) = AsyncStream.makeStream(of: RecordedRequest.self)
            let (bodies, body) = AsyncStream.makeStream(of: Data.self)
            let clock = ManualClock()
            try await ScriptedServer.run { connection in
                let head = try await connection.readHead()
                guard head.path == "/first" else {
                    repetition.yield(head)
                    body.yield(await connection.readToEnd())
                    return
                }
                try await connection.respond()
                _ = try await connection.readRequest()
            } whileOpen: { server in
                let service = AnyHttpService(
                    apiUrl: server.url.absoluteString,
                    transport: URLSessionTransport(),
                    clock: clock
                )
                try await Probe(route: ["first"]).schedule(with: service)
                let request = Probe(
                    method: method,
                    route: ["second"],
                    body: .data(Data("x".utf8)),
                    timeout: .seconds(5)
                )
                let call = Task { try await request.schedule(with: service) }
                let header = await repeated.first { _ in true }
                #expect(header?.method == method.rawValue)
                #expect(header?.values(of: "Content-Length") == ["1"])
                try await clock.waitForAlarms(count: 1)
                clock.advance(by: .seconds(5))
                let error = await #expect(throws: HttpError.self) { try await call.value }
                #expect(error?.kind == .timeout(.seconds(5)))
                #expect(error?.delivery == .maybeExecuted)
                #expect(await bodies.first { _ in true } == Data())
                #expect(await server.requests.map(\.body) == [Data("x".utf8)])
            }
        }
    #endif
}
