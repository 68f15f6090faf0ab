import Foundation
import Nautilus
import NautilusCurl
import ScriptedSockets
import Testing

@Suite("A handle that is used again", .timeLimit(.minutes(10)), .whereAvailable)
struct HandleTests {
    // One connection, and so one handle at a time.
    private let transport = TransportUnderTest.make(connectionsPerHost: 1)

    private static let answerAll: ScriptedServer.Script = { connection in
        while true {
            let request = try await connection.readRequest()
            if request.requestLine.hasPrefix("HEAD") {
                try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n")
            } else {
                try await connection.respond(body: Data(request.requestLine.utf8))
            }
        }
    }

    @Test("a handle that is used again carries nothing of the request before")
    func nothingLeft() async throws {
        try await ScriptedServer.run(Self.answerAll) { server in
            let (short, long) = (Data("short".utf8), Data(repeating: 0x78, count: 100_000))
            let streamed = HttpBodyStream(
                once: AsyncStream { parts in
                    parts.yield(short)
                    parts.finish()
                }
            )
            let before: [(HttpMethod, HttpHeader, HttpBody.Payload)] = [
                (.post, ["X-Before": "1", "Content-Type": "text/plain"], .data(short)), (.put, [:], .data(long)),
                (.post, [:], .stream(streamed)), (.head, [:], .empty), (.delete, ["Idempotency-Key": "1"], .empty),
                (.post, [:], .empty), (.get, ["User-Agent": "Before", "Accept-Encoding": "before"], .empty),
            ]
            for (number, (method, header, body)) in before.enumerated() {
                let first = server.url.appendingPathComponent("before-\(number)")
                _ = try await send(method, first, header: header, body: body, through: transport)
                for path in ["/plain", "/plain", "/other-\(number)"] {
                    let url = server.url.appendingPathComponent(path)
                    let text = try await send(.get, url, through: transport).text
                    #expect(text == "GET \(path) HTTP/1.1")
                }
            }
            let plain = await server.requests.filter { !$0.path.hasPrefix("/before") }
            let expected = try #require(plain.first)
            #expect(plain.allSatisfy { $0.headerLines == expected.headerLines && $0.body.isEmpty })
            #expect(expected.values(of: "User-Agent") == ["Nautilus"])
            let bodies = await server.requests.filter { $0.path.hasPrefix("/before") }.map(\.body)
            #expect(bodies == [short, long, short, Data(), Data(), Data(), Data()])
            #expect(await server.connectionCount == 1)
        }
    }

    @Test("a handle that is used again does not count the connections that have died under it")
    func repeats() async throws {
        // libcurl gives up once it has tried five times, and counts as long as a handle lives.
        let count = 12
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond()
            _ = try await connection.readRequest()
        } whileOpen: { server in
            for _ in 0..<count {
                let status = try await send(.get, server.url, through: transport).status
                #expect(status == 200)
            }
            #expect(await server.requests.count == 2 * count - 1)
        }
    }

    @Test("a handle that is used again knows one host's addresses from another's")
    func addresses() async throws {
        let answerHost: ScriptedServer.Script = { connection in
            while true {
                let host = try await connection.readRequest().values(of: "Host").first ?? ""
                try await connection.respond(body: Data(host.utf8))
            }
        }
        try await ScriptedServer.run(answerHost) { server in
            let addresses = ["a.invalid": ["127.0.0.1"], "b.invalid": ["127.0.0.1"]]
            let transport = CurlTransport(configuration: .init(addresses: addresses))
            for host in ["a.invalid", "127.0.0.1", "b.invalid", "a.invalid"] {
                let url = server.url(scheme: "http", host: host)
                let text = try await send(.get, url, through: transport).text
                #expect(text == "\(host):\(server.port)")
            }
            let unknown = server.url(scheme: "http", host: "c.invalid")
            let failure = try await failure { try await send(.get, unknown, through: transport) }
            #expect(failure == Failure(code: .cannotFindHost, delivery: .notSent))
        }
    }
}
