import Foundation
import Nautilus
import NautilusCurl
import ScriptedSockets
import Testing

@Suite("The route of a connection", .timeLimit(.minutes(10)), .whereAvailable)
struct RouteTests {
    private static let answerHost: ScriptedServer.Script = { connection in
        let host = try await connection.readRequest().values(of: "Host").first ?? ""
        try await connection.respond(body: Data(host.utf8))
    }

    @Test("a connection goes to an IPv6 literal")
    func ipv6() async throws {
        try await ScriptedServer.run(at: .ipv6, Self.answerHost) { server in
            let url = try #require(URL(string: "http://[::1]:\(server.port)/a"))
            #expect(try await send(.get, url).text == "[::1]:\(server.port)")
        }
    }

    @Test("a connection over a Unix socket names the requested host")
    func unixSocket() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("n\(UInt32.random(in: 0...(.max)))")
            .path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await ScriptedServer.run(at: .unix(path: path), Self.answerHost) { _ in
            let transport = CurlTransport(configuration: .init(route: .unixSocket(path: path)))
            let url = try #require(URL(string: "http://nautilus.invalid/a"))
            #expect(try await send(.get, url, through: transport).text == "nautilus.invalid")
        }
    }

    @Test(
        "settings that libcurl would cut short or ignore are an error, and nothing is sent",
        arguments: [
            .proxy(.init("")), .proxy(.init("\0http://127.0.0.1")), .proxy(.init("http://127.0.0.1:1\0@x")),
            .proxy(.init("http://127.0.0.1:1", user: "a\0b")), .unixSocket(path: "/tmp\0a"),
        ] as [CurlTransport.Route]
    )
    func cutShort(route: CurlTransport.Route) async throws {
        try await ScriptedServer.run(Self.answerHost) { server in
            let transport = CurlTransport(configuration: .init(route: route))
            let failure = try await failure { try await send(.get, server.url, through: transport) }
            #expect(failure == Failure(code: .cannotConnectToHost, delivery: .notSent))
            #expect(await server.requests.isEmpty)
        }
    }

    @Test("a request goes through the proxy, which alone gets the proxy's user and password")
    func proxy() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond("203 Non-Authoritative Information")
        } whileOpen: { server in
            let proxy = CurlTransport.Proxy("http://127.0.0.1:\(server.port)", user: "u", password: "hunter2")
            let transport = CurlTransport(configuration: .init(route: .proxy(proxy)))
            let url = try #require(URL(string: "http://nautilus.invalid/path?q=1"))
            #expect(try await send(.get, url, through: transport).status == 203)
            let request = try #require(await server.requests.first)
            #expect(request.target == "http://nautilus.invalid/path?q=1")
            #expect(request.values(of: "Proxy-Authorization") == ["Basic dTpodW50ZXIy"])
            #expect(!"\(proxy) \(String(reflecting: proxy))".contains("hunter2"))
        }
    }

    @Test(
        "with a proxy that refuses to connect, nothing is sent, and it is not the host's fault",
        arguments: [
            ("407 Proxy Authentication Required", .userAuthenticationRequired),
            ("403 Forbidden", .cannotConnectToHost), ("502 Bad Gateway", .cannotConnectToHost),
        ] as [(String, URLError.Code)]
    )
    func refusingProxy(status: String, code: URLError.Code) async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond(status)
        } whileOpen: { server in
            let route = CurlTransport.Route.proxy(.init("http://127.0.0.1:\(server.port)"))
            // A machine that runs all tests at once may take long to accept a connection.
            let transport = CurlTransport(configuration: .init(connectTimeout: .seconds(120), route: route))
            let url = try #require(URL(string: "https://nautilus.invalid/"))
            let error = await #expect(throws: TransportError.self) { try await send(.post, url, through: transport) }
            guard case .failed(code, .notSent, let reason) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("proxy"))
        }
    }

    @Test("a connection goes to the address that a name was given")
    func addresses() async throws {
        try await ScriptedServer.run(Self.answerHost) { server in
            let transport = CurlTransport(configuration: .init(addresses: ["nautilus.invalid": ["127.0.0.1"]]))
            let url = try #require(URL(string: "http://nautilus.invalid:\(server.port)/"))
            #expect(try await send(.get, url, through: transport).text == "nautilus.invalid:\(server.port)")
        }
    }

    @Test("a name that has no address: not sent")
    func unknownName() async throws {
        let url = try #require(URL(string: "http://nautilus.invalid/"))
        let failure = try await failure { try await send(.post, url) }
        #expect(failure == Failure(code: .cannotFindHost, delivery: .notSent))
    }

    @Test("a connection that is not made in time: not sent, and of a kind of its own")
    func connectTimeout() async throws {
        try await ScriptedServer.run {
            try await $0.hang()
        } whileOpen: { server in
            let transport = CurlTransport(configuration: .init(connectTimeout: .milliseconds(50)))
            // A handshake that is never answered.
            let url = server.url(scheme: "https", host: "127.0.0.1")
            let failure = try await failure { try await send(.post, url, through: transport) }
            #expect(failure == Failure(code: .timedOut, delivery: .notSent))
        }
    }

    @Test("an invalid transport setting fails the exchange before anything is sent")
    func badSettings() async throws {
        let trust = CurlTransport.Trust(roots: Data("no certificate".utf8))
        let transport = CurlTransport(configuration: .init(trust: trust))
        try await ScriptedServer.run {
            try await $0.hang()
        } whileOpen: { server in
            let url = server.url(scheme: "https", host: "127.0.0.1")
            let failure = try await failure { try await send(.post, url, through: transport) }
            #expect(failure?.delivery == .notSent)
        }
    }
}
