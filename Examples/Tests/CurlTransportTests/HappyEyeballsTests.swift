import Foundation
import Nautilus
import NautilusCurl
import ScriptedSockets
import Testing

@Suite("Hosts with several addresses", .timeLimit(.minutes(10)), .whereAvailable)
struct HappyEyeballsTests {
    @Test(
        "a host is reached, whichever of its addresses comes first",
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

    @Test(
        "a host is reached at once, though several addresses before the working one refuse",
        arguments: [
            ["127.0.0.2", "127.0.0.3", "127.0.0.1"], ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.1"],
            ["::1", "127.0.0.2", "127.0.0.3", "127.0.0.1"],
        ]
    )
    func refusing(addresses: [String]) async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond()
        } whileOpen: { server in
            // Half of it for the first address, or the test would not end in time.
            let configuration = CurlTransport.Configuration(
                connectTimeout: .seconds(3600),
                addresses: ["nautilus.invalid": addresses]
            )
            let url = server.url(scheme: "http", host: "nautilus.invalid")
            let status = try await send(.post, url, through: CurlTransport(configuration: configuration)).status
            #expect(status == 200)
        }
    }

    @Test("a host is reached by its next address when the first one does not answer in time")
    func silent() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond()
        } whileOpen: { server in
            try await SilentAddress.run("127.0.0.2", port: server.port) {
                let configuration = CurlTransport.Configuration(
                    connectTimeout: .seconds(8),
                    addresses: ["nautilus.invalid": ["127.0.0.2", "127.0.0.1"]]
                )
                let url = server.url(scheme: "http", host: "nautilus.invalid")
                let status = try await send(.post, url, through: CurlTransport(configuration: configuration)).status
                #expect(status == 200)
            }
        }
    }

    @Test("if no address of a host answers, the failure is notSent")
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

/// An address at which nobody accepts a connection, or refuses one: its queue is full.
private enum SilentAddress {
    static func run(_ address: String, port: UInt16, _ body: () async throws -> Void) async throws {
        let place = sockaddr_in(
            sin_family: sa_family_t(AF_INET),
            sin_port: port.bigEndian,
            sin_addr: in_addr(s_addr: inet_addr(address)),
            sin_zero: (0, 0, 0, 0, 0, 0, 0, 0)
        )
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var sockets = [listener]
        defer { for socket in sockets { close(socket) } }
        guard withAddress(place, { bind(listener, $0, $1) }) == 0, listen(listener, 0) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
        // Some wait to be accepted; of those that come then, the system hears nothing.
        for _ in 0..<4 {
            let waiting = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            sockets.append(waiting)
            _ = withAddress(place) { connect(waiting, $0, $1) }
        }
        try await body()
    }

    private static func withAddress(
        _ place: sockaddr_in,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
