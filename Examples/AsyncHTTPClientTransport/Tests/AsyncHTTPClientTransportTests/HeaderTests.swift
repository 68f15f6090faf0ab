import AsyncHTTPClientTransport
import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("The header that is sent", .timeLimit(.minutes(10)))
struct HeaderTests {
    @Test("fields keep their order, their case, and each value its line")
    func order() async throws {
        let lines = try await sent(["X-b": "1", "x-A": "2", "X-B": "3", "Accept-Encoding": "identity"])
        #expect(lines.prefix(4) == ["X-b: 1", "x-A: 2", "X-B: 3", "Accept-Encoding: identity"])
    }

    @Test(
        "F11: Host, Content-Length, Transfer-Encoding and Expect are refused, for the transport alone writes them",
        arguments: ["Host", "content-length", "Transfer-Encoding", "EXPECT"] as [HttpHeader.Name]
    )
    func ownFields(name: HttpHeader.Name) async throws {
        await #expect(throws: HttpRequest.Invalid.reservedHeader(name)) { _ = try await sent([name: "1"]) }
    }

    @Test("gzip and deflate are asked for, unless the transport or the request says otherwise")
    func encodings() async throws {
        #expect(try await sent([:]).contains("Accept-Encoding: gzip, deflate"))
        let transport = AsyncHTTPClientTransport(configuration: .init(decompresses: false))
        let without = try await sent([:], through: transport)
        #expect(!without.contains { $0.lowercased().hasPrefix("accept-encoding") })
    }

    @Test("a compressed body is undone, and counts as what it becomes", arguments: [26, 25])
    func compressed(limit: Int) async throws {
        // 26 letters, compressed by gzip.
        let gzip = try #require(
            Data(base64Encoded: "H4sIAAAAAAACA0tMSk5JTUvPyMzKzsnNyy8oLCouKS0rr6isAgC9UCdMGgAAAA==")
        )
        let transport = AsyncHTTPClientTransport(configuration: .init(responseLimit: limit))
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond("200 OK", ["Content-Encoding: gzip"], body: gzip)
        } whileOpen: { server in
            if limit == 26 {
                let response = try await send(.get, server.url, through: transport)
                #expect(response.body == Data("abcdefghijklmnopqrstuvwxyz".utf8))
            } else {
                // Nothing in the header tells of it.
                await #expect(throws: TransportError.responseTooLarge(limit: 25)) {
                    try await send(.get, server.url, through: transport)
                }
            }
        }
    }

    private func sent(
        _ header: HttpHeader,
        through transport: AsyncHTTPClientTransport = AsyncHTTPClientTransport()
    ) async throws -> [String] {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond()
        } whileOpen: { server in
            _ = try await send(.get, server.url, header: header, through: transport)
            return await server.requests[0].headerLines
        }
    }
}
