import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("The opening handshake over a real socket", .whereAvailable, .timeLimit(.minutes(10)))
struct OpeningTests {
    @Test("the request is the one of RFC 6455 §4.1, with the call's fields")
    func request() async throws {
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let url = try #require(URL(string: "ws://127.0.0.1:\(server.port)/rooms/a%2Fb?x=1%202"))
            let header: HttpHeader = [
                "Authorization": "Bearer token-1"
            ]
            _ = try await openSocket(url, header: header)
            let request = try #require(await server.requests.first)
            #expect(request.requestLine == "GET /rooms/a%2Fb?x=1%202 HTTP/1.1")
            #expect(request.values(of: "Host") == ["127.0.0.1:\(server.port)"])
            #expect(request.values(of: "Authorization") == ["Bearer token-1"])
            #expect(request.values(of: "Connection").map { $0.lowercased() } == ["upgrade"])
            #expect(request.values(of: "Upgrade") == ["websocket"])
            #expect(request.values(of: "Sec-WebSocket-Version") == ["13"])
            #expect(request.values(of: "Sec-WebSocket-Extensions") == [])
            #expect(request.values(of: "Content-Length") == [])
            let keys = request.values(of: "Sec-WebSocket-Key")
            #expect(keys.map { Data(base64Encoded: $0)?.count } == [16])
        }
    }

    @Test("the key is another one for every attempt")
    func key() async throws {
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            _ = await connection.readToEnd()
        } whileOpen: { server in
            for _ in 0..<3 { _ = try await openSocket(server.socketUrl) }
            let keys = await server.requests.flatMap { $0.values(of: "Sec-WebSocket-Key") }
            #expect(keys.count == 3)
            #expect(Set(keys).count == 3)
        }
    }

    @Test("frames right behind the 101, in the same packet, are not lost")
    func glued() async throws {
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket(then: .text("a"), .text("b"))
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let connection = try await openSocket(server.socketUrl)
            #expect(try await connection.receive() == .text("a"))
            #expect(try await connection.receive() == .text("b"))
        }
    }

    @Test("the header of the 101 comes with the connection, and the subprotocol that was chosen")
    func subprotocol() async throws {
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket(["Sec-WebSocket-Protocol: v1.chat", "X-Server: shell"])
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let header: HttpHeader = ["Sec-WebSocket-Protocol": "v2.chat, v1.chat"]
            guard case .opened(_, let answer) = try await tryOpening(server.socketUrl, header: header) else {
                Issue.record("It was declined.")
                return
            }
            #expect(answer["Sec-WebSocket-Protocol"] == "v1.chat")
            #expect(answer["X-Server"] == "shell")
            #expect(await server.requests.first?.values(of: "Sec-WebSocket-Protocol") == ["v2.chat, v1.chat"])
        }
    }

    @Test("a 101 that does not complete the handshake is an error", arguments: IncompleteHandshake.allCases)
    func incomplete(handshake: IncompleteHandshake) async throws {
        try await ScriptedServer.run { connection in
            let request = try await connection.readRequest()
            try await connection.write(try await handshake.answer(to: request))
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let failure = try await failed {
                try await tryOpening(server.socketUrl, header: ["Sec-WebSocket-Protocol": "v1.chat"])
            }
            #expect(failure == Failure(code: .badServerResponse, delivery: .maybeExecuted))
        }
    }

    @Test("a status other than 101 is an answer, with its header and its body up to the limit", arguments: [3, 4, 5])
    func declined(limit: Int) async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond("401 Unauthorized", ["WWW-Authenticate: Bearer"], body: Data("gone".utf8))
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let transport = SocketsUnderTest.make(declinedBodyLimit: limit)
            guard case .declined(let response) = try await tryOpening(server.socketUrl, through: transport) else {
                Issue.record("It was opened.")
                return
            }
            #expect(response.status == 401)
            #expect(response.header[.wwwAuthenticate] == "Bearer")
            #expect(String(decoding: response.body, as: UTF8.self) == "gone".prefix(limit))
        }
    }

    @Test("cancelling while the server does not answer ends the wait at once, and the connection")
    func cancelled() async throws {
        let (asked, left) = (Signal(), Signal())
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            asked.fire()
            _ = await connection.readToEnd()
            left.fire()
        } whileOpen: { server in
            let opening = Task { _ = try await openSocket(server.socketUrl) }
            await asked.wait()
            opening.cancel()
            await #expect(throws: CancellationError.self) { try await opening.value }
            await left.wait()
        }
    }

    @Test("a web socket whose task is cancelled before it begins connects to nobody")
    func cancelledBefore() async throws {
        try await ScriptedServer.run { _ in
        } whileOpen: { server in
            let opening = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await openSocket(server.socketUrl)
            }
            await #expect(throws: CancellationError.self) { try await opening.value }
            #expect(await server.connectionCount == 0)
        }
    }
}

/// An answer that looks like the opening of a web socket, and is none.
enum IncompleteHandshake: String, CaseIterable, Sendable {
    case wrongAccept, noAccept, otherUpgrade, noConnection, unaskedExtension, unaskedSubprotocol

    func answer(to request: RecordedRequest) async throws -> String {
        switch self {
        case .wrongAccept: try await request.acceptance(key: "dGhlIHNhbXBsZSBub25jZQ==")
        case .noAccept: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
        case .otherUpgrade:
            try await request.acceptance().replacingOccurrences(of: "websocket", with: "h2c")
        case .noConnection:
            try await request.acceptance().replacingOccurrences(of: "Connection: Upgrade", with: "X-None: 1")
        case .unaskedExtension: try await request.acceptance(["Sec-WebSocket-Extensions: permessage-deflate"])
        case .unaskedSubprotocol: try await request.acceptance(["Sec-WebSocket-Protocol: v2.chat"])
        }
    }
}
