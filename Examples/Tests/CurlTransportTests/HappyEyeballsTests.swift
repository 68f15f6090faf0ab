import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("A host of several addresses is reached by one that lives", .timeLimit(.minutes(10)), .whereAvailable)
struct HappyEyeballsTests {
    @Test(
        "whatever comes first",
        arguments: [
            ["127.0.0.2", "127.0.0.1"], ["::1", "127.0.0.1"], ["127.0.0.1", "::1"], ["::1", "127.0.0.2", "127.0.0.1"],
        ]
    )
    func dead(addresses: [String]) async throws {
        try await ScriptedServer.run { connection in
            while true {
                _ = try await connection.readRequest()
                try await connection.respond()
            }
        } whileOpen: { server in
            // The server listens at 127.0.0.1 alone: at the others the port is closed.
            let transport = CurlTransport(
                configuration: .init(connectTimeout: .seconds(120), addresses: ["nautilus.invalid": addresses])
            )
            let url = server.url(scheme: "http", host: "nautilus.invalid")
            // Whether it may run twice or not: a connection that is refused has not seen it.
            for method in [HttpMethod.post, .get, .post] {
                let status = try await send(method, url, through: transport).status
                #expect(status == 200)
            }
            #expect(
                await server.requests.map(\.requestLine) == ["POST / HTTP/1.1", "GET / HTTP/1.1", "POST / HTTP/1.1"]
            )
            #expect(await server.connectionCount == 1)
        }
    }

    @Test("and not by none: not sent")
    func none() async throws {
        try await ScriptedServer.run {
            try await $0.hang()
        } whileOpen: { server in
            let addresses = ["nautilus.invalid": ["127.0.0.2", "::1"]]
            let transport = CurlTransport(configuration: .init(addresses: addresses))
            let url = server.url(scheme: "http", host: "nautilus.invalid")
            let failure = try await failure { try await send(.post, url, through: transport) }
            #expect(failure == Failure(code: .cannotConnectToHost, delivery: .notSent))
        }
    }
}
