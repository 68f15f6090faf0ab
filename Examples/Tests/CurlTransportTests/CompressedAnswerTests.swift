import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("A compressed answer", .timeLimit(.minutes(10)), .whereAvailable)
struct CompressedAnswerTests {
    /// 100 000 zeros, in gzip.
    private static let zeros = Data(
        base64Encoded:
            "H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0PoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAIBXA32VEdSghgEA"
    )

    @Test("a compressed answer is decoded no faster than it is read, however small it was")
    func bomb() async throws {
        // 200 MB, in 280 KB: what libcurl hands over at once becomes 12 MB.
        let (member, count) = (try #require(Self.zeros), 2_000)
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(member.count * count)\r\n\r\n"
            try await connection.write(head)
            for _ in 0..<count { try await connection.write(member) }
            try await connection.hang()
        } whileOpen: { server in
            let body = try await stream(.get, server.url).body
            var (most, all) = (0, 0)
            for try await chunk in body {
                most = max(most, chunk.count)
                all += chunk.count
            }
            #expect(all == 100_000 * count)
            // The limit of what waits for a reader, and one part of the decoder's output.
            #expect(most <= 262_144 + 65_536)
        }
    }
}
