import Foundation
import Nautilus
import NautilusCurl
import ScriptedSockets
import Testing

@Suite(
    "A web socket to Python's websockets",
    .whereAvailable,
    .enabled("needs python3 with websockets: pip install websockets, NAUTILUS_PYTHON for it") {
        await PythonServer.isAvailable
    },
    .timeLimit(.minutes(10))
)
struct PythonServerTests {
    private static func socket(_ server: PythonServer, _ path: String) async throws -> any WebSocketConnection {
        try await openSocket(try #require(server.url(path)))
    }

    @Test("texts and bytes of every size of length go there and back")
    func sizes() async throws {
        try await PythonServer.run { server in
            let connection = try await Self.socket(server, "/echo")
            for count in [0, 1, 125, 126, 127, 65_535, 65_536, 65_537, 1_048_576] {
                let data = WebSocketMessage.data(Data(repeating: 7, count: count))
                try await connection.send(data)
                #expect(try await connection.receive() == data)
                let text = WebSocketMessage.text(String(repeating: "é", count: count / 2))
                try await connection.send(text)
                #expect(try await connection.receive() == text)
            }
            let largest = WebSocketMessage.data(Data(repeating: 7, count: 16_777_216))
            try await connection.send(largest)
            #expect(try await connection.receive() == largest)
            try await connection.ping()
        }
    }

    @Test("fragments are one message, and pings of the server are answered")
    func fragments() async throws {
        try await PythonServer.run { server in
            let connection = try await Self.socket(server, "/fragments")
            #expect(try await connection.receive() == .text("fragments é"))
            #expect(try await connection.receive() == .data(Data([0, 1, 2])))
            await #expect(throws: WebSocketClosure(.normalClosure)) { try await connection.receive() }
            #expect(try await Self.socket(server, "/ping").receive() == .text("ponged"))
        }
    }

    @Test("many senders can send at once: each message arrives whole, with pings in between")
    func senders() async throws {
        try await PythonServer.run { server in
            let connection = try await Self.socket(server, "/count")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        try await connection.send(.text(String(repeating: "a", count: number * 100)))
                        if number % 20 == 0 { try await connection.ping() }
                    }
                    // The first message of all is empty, and answered.
                    if number == 0 { #expect(try await connection.receive() == .text("0")) }
                }
                try await group.waitForAll()
            }
            try await connection.send(.text(""))
            #expect(try await connection.receive() == .text("1990000"))
        }
    }

    @Test(
        "closings come with code and reason, and are agreed on",
        arguments: [1000, 1001, 1011, 3000, 4999] as [UInt16]
    )
    func closings(code: UInt16) async throws {
        try await PythonServer.run { server in
            let connection = try await Self.socket(server, "/close/\(code)")
            let closure = WebSocketClosure(.init(rawValue: code), reason: "so é")
            await #expect(throws: closure) { try await connection.receive() }
            let other = try await Self.socket(server, "/echo")
            await other.close(closure)
            await #expect(throws: closure) { try await other.receive() }
        }
    }

    @Test("a subprotocol is chosen among those that are offered, and a refusal is an answer")
    func openings() async throws {
        try await PythonServer.run { server in
            let url = try #require(server.url("/echo"))
            let header: HttpHeader = ["Sec-WebSocket-Protocol": "v1.chat, v2.chat"]
            guard case .opened(_, let answer) = try await tryOpening(url, header: header),
                case .declined(let response) = try await tryOpening(try #require(server.url("/decline")))
            else {
                Issue.record("It went otherwise.")
                return
            }
            #expect(answer["Sec-WebSocket-Protocol"] == "v2.chat")
            #expect(answer["Sec-WebSocket-Extensions"] == nil)
            #expect(response.status == 401)
            #expect(response.header[.wwwAuthenticate] == "Bearer")
            #expect(String(decoding: response.body, as: UTF8.self) == "who are you?")
        }
    }

    @Test(
        "a web socket to Python's websockets works over TLS, with own roots",
        .enabled(if: UntrustedTlsServer.openssl != nil, "needs openssl")
    )
    func secure() async throws {
        try await UntrustedTlsServer.run { identity in
            try await PythonServer.run(secure: (identity.certificate, identity.key)) { server in
                let url = try #require(server.url("/echo", scheme: "wss"))
                let trust = CurlTransport.Trust(roots: identity.certificate)
                let transport = CurlWebSocketTransport(over: CurlTransport(configuration: .init(trust: trust)))
                let connection = try await openSocket(url, through: transport)
                for count in [0, 1, 16_384, 16_385, 300_000, 16_777_216] {
                    let message = WebSocketMessage.data(Data(repeating: 7, count: count))
                    async let sent: Void = connection.send(message)
                    #expect(try await connection.receive() == message)
                    try await sent
                }
                let closure = WebSocketClosure(4001, reason: "bye")
                await connection.close(closure)
                let failure = try await failed { try await openSocket(url) }
                #expect(failure == Failure(code: .serverCertificateUntrusted, delivery: .notSent))
            }
        }
    }

    @Test(
        "over TLS a slow reader holds up the server, and hears everything",
        .enabled(if: UntrustedTlsServer.openssl != nil)
    )
    func secureAndSlow() async throws {
        try await UntrustedTlsServer.run { identity in
            try await PythonServer.run(secure: (identity.certificate, identity.key)) { server in
                let url = try #require(server.url("/echo", scheme: "wss"))
                let trust = CurlTransport.Trust(roots: identity.certificate)
                let transport = CurlWebSocketTransport(over: CurlTransport(configuration: .init(trust: trust)))
                let connection = try await openSocket(url, through: transport)
                let sending = Task {
                    for number in 0..<1000 {
                        try await connection.send(.text("\(number)" + String(repeating: "a", count: 5000)))
                    }
                }
                for number in 0..<1000 {
                    // Data that lies decrypted in TLS while there is no reader is not forgotten.
                    if number % 50 == 0 { for _ in 0..<1000 { await Task.yield() } }
                    #expect(try await connection.receive() == .text("\(number)" + String(repeating: "a", count: 5000)))
                }
                try await sending.value
            }
        }
    }
}
