import Foundation
import Nautilus
import NautilusCurl
import ScriptedSockets
import Testing

@Suite(
    "The proxies of the environment",
    .serialized,
    .timeLimit(.minutes(10)),
    .whereAvailable,
    // The environment is the whole process's.
    .enabled(if: OpenDescriptors.canBeCounted, "changed where nothing else runs, with NAUTILUS_ALONE=1")
)
struct EnvironmentRouteTests {
    /// The targets that a proxy has been asked for, and a server behind it, which is not reached by it.
    private func targets(
        _ route: CurlTransport.Route,
        except host: String = "",
        _ names: [String]
    ) async throws -> (proxy: [String], server: [String]) {
        let script: ScriptedServer.Script = { connection in
            while true {
                _ = try await connection.readRequest()
                try await connection.respond()
            }
        }
        return try await ScriptedServer.run(script) { proxy in
            try await ScriptedServer.run(script) { server in
                let settings = ["http_proxy": proxy.url.absoluteString, "no_proxy": host]
                for (name, value) in settings { setenv(name, value, 1) }
                defer { for name in settings.keys { unsetenv(name) } }
                let transport = CurlTransport(
                    configuration: .init(route: route, addresses: ["a.invalid": ["127.0.0.1"]])
                )
                for name in names {
                    let url = server.url(scheme: "http", host: name)
                    let status = try await send(.get, url, through: transport).status
                    #expect(status == 200)
                }
                let port = server.port
                return (
                    await proxy.requests.map { $0.target.replacingOccurrences(of: ":\(port)", with: "") },
                    await server.requests.map(\.target)
                )
            }
        }
    }

    @Test("the environment's proxies are used, except for the hosts that it excludes")
    func used() async throws {
        let seen = try await targets(.environment, except: "a.invalid", ["b.invalid", "a.invalid", "127.0.0.1"])
        #expect(seen.proxy == ["http://b.invalid/", "http://127.0.0.1/"])
        #expect(seen.server == ["/"])
    }

    @Test("the environment's proxies are not used for a direct route")
    func direct() async throws {
        let seen = try await targets(.direct, ["a.invalid", "127.0.0.1"])
        #expect(seen.proxy.isEmpty)
        #expect(seen.server == ["/", "/"])
    }
}
