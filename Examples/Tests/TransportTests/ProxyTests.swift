import Foundation
import Nautilus
import ScriptedSockets
import Testing

// A process of its own: the environment is everybody's. Elsewhere than on Linux the system's settings decide.
#if os(Linux) && compiler(>=6.2)
    @Suite("A proxy of the environment", .timeLimit(.minutes(10)))
    struct ProxyTests {
        @Test("http_proxy gets the requests, with their whole URL")
        func honoured() async throws {
            await #expect(processExitsWith: .success) {
                try await ScriptedServer.run { connection in
                    _ = try await connection.readRequest()
                    try await connection.respond("203 Non-Authoritative Information")
                } whileOpen: { proxy in
                    setenv("http_proxy", proxy.url.absoluteString, 1)
                    let url = try #require(URL(string: "http://nautilus.invalid/path?q=1"))
                    let response = try await send(.get, url)
                    #expect(response.status == 203)
                    #expect(await proxy.requests.map(\.target) == ["http://nautilus.invalid/path?q=1"])
                }
            }
        }
    }
#endif
