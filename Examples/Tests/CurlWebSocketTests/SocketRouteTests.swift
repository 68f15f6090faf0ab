import Foundation
import Nautilus
import NautilusCurl
import ScriptedSockets
import Testing

@Suite("The route of a web socket", .whereAvailable, .timeLimit(.minutes(10)))
struct SocketRouteTests {
    private static func transport(_ configuration: CurlTransport.Configuration) -> CurlWebSocketTransport {
        CurlWebSocketTransport(over: CurlTransport(configuration: configuration))
    }

    @Test("a web socket goes through a proxy's tunnel, whose answer is not the server's")
    func proxy() async throws {
        try await ScriptedServer.run { connection in
            let request = try await connection.readHead()
            #expect(request.requestLine == "CONNECT nautilus.invalid:80 HTTP/1.1")
            #expect(request.values(of: "Proxy-Authorization") == ["Basic dTpodW50ZXIy"])
            try await connection.write("HTTP/1.1 200 Connection established\r\nX-Proxy: a\r\n\r\n")
            let opening = try await connection.acceptSocket(then: .text("behind it"))
            #expect(opening.values(of: "Host") == ["nautilus.invalid"])
            #expect(opening.values(of: "Proxy-Authorization") == [])
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let proxy = CurlTransport.Proxy("http://127.0.0.1:\(server.port)", user: "u", password: "hunter2")
            let url = try #require(URL(string: "ws://nautilus.invalid/chat"))
            let connection = try await openSocket(url, through: Self.transport(.init(route: .proxy(proxy))))
            #expect(try await connection.receive() == .text("behind it"))
        }
    }

    @Test("a web socket through a proxy that refuses to connect fails as notSent")
    func refusingProxy() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readHead()
            try await connection.respond("407 Proxy Authentication Required")
        } whileOpen: { server in
            let route = CurlTransport.Route.proxy(.init("http://127.0.0.1:\(server.port)"))
            let url = try #require(URL(string: "ws://nautilus.invalid/"))
            let failure = try await failed { try await openSocket(url, through: Self.transport(.init(route: route))) }
            #expect(failure?.delivery == .notSent)
        }
    }

    @Test("a web socket goes over a Unix socket, and to an address that a name was given")
    func others() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("n\(UInt32.random(in: 0...(.max)))")
            .path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let script: ScriptedServer.Script = { connection in
            let host = try await connection.acceptSocket().values(of: "Host").first ?? ""
            try await connection.write(.text(host))
            _ = await connection.readToEnd()
        }
        try await ScriptedServer.run(at: .unix(path: path), script) { _ in
            let url = try #require(URL(string: "ws://nautilus.invalid/"))
            let transport = Self.transport(.init(route: .unixSocket(path: path)))
            #expect(try await openSocket(url, through: transport).receive() == .text("nautilus.invalid"))
        }
        try await ScriptedServer.run(script) { server in
            let url = try #require(URL(string: "ws://nautilus.invalid:\(server.port)/"))
            let transport = Self.transport(.init(addresses: ["nautilus.invalid": ["127.0.0.1"]]))
            #expect(try await openSocket(url, through: transport).receive() == .text("nautilus.invalid:\(server.port)"))
        }
    }

    @Test("a web socket that cannot be connected in time sends nothing")
    func connectTimeout() async throws {
        try await ScriptedServer.run { connection in
            // TLS is never begun.
            try await connection.hang()
        } whileOpen: { server in
            let url = server.url(scheme: "wss", host: "127.0.0.1")
            let transport = Self.transport(.init(connectTimeout: .milliseconds(50)))
            let failure = try await failed { try await openSocket(url, through: transport) }
            #expect(failure == Failure(code: .timedOut, delivery: .notSent))
        }
    }

    @Test("a web socket runs beside exchanges of its transport, though its server sends without end")
    func flood() async throws {
        let (isFlooding, answers) = (Signal(), Counted())
        try await ScriptedServer.run { connection in
            let request = try await connection.readHead()
            guard request.values(of: "Upgrade").isEmpty else {
                try await connection.write(Data(try await request.acceptance().utf8))
                // A message without end, in fragments of no byte: more work to read than to write.
                let fragments = Data(repeating: 0, count: 1 << 20)
                try await connection.write(RawFrame.text("", isLast: false).bytes)
                isFlooding.fire()
                while await answers.count < 3 { try await connection.write(fragments) }
                return
            }
            try await connection.respond(body: Data("b".utf8))
        } whileOpen: { server in
            let transport = CurlTransport()
            let socket = try await openSocket(server.socketUrl, through: CurlWebSocketTransport(over: transport))
            let reading = Task { try await socket.receive() }
            await isFlooding.wait()
            for _ in 0..<3 {
                let request = HttpRequest(url: server.url)
                let response = try await transport.send(request, context: TransportContext())
                #expect(response.body == Data("b".utf8))
                await answers.add()
            }
            reading.cancel()
            _ = await reading.result
        }
    }

    @Test("a web socket runs beside exchanges of its transport, on the transport's thread")
    func shared() async throws {
        try await ScriptedServer.run { connection in
            let request = try await connection.readHead()
            guard request.values(of: "Upgrade").isEmpty else {
                try await connection.write(Data(try await request.acceptance().utf8) + RawFrame.text("a").bytes)
                _ = await connection.readToEnd()
                return
            }
            try await connection.respond(body: Data("b".utf8))
        } whileOpen: { server in
            let transport = CurlTransport(configuration: .init(connectionsPerHost: 1, connections: 1))
            let sockets = CurlWebSocketTransport(over: transport)
            var connections: [any WebSocketConnection] = []
            for _ in 0..<3 {
                connections.append(try await openSocket(server.socketUrl, through: sockets))
                let request = HttpRequest(url: server.url)
                let response = try await transport.send(request, context: TransportContext())
                #expect(response.body == Data("b".utf8))
            }
            for connection in connections { #expect(try await connection.receive() == .text("a")) }
        }
    }
}

private actor Counted {
    private(set) var count = 0
    func add() { count += 1 }
}
