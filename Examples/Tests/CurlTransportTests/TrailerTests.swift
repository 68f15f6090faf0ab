import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("The fields behind a body", .timeLimit(.minutes(10)), .whereAvailable)
struct TrailerTests {
    @Test("trailers reach the caller separately from the header, with their values in order")
    func trailers() async throws {
        let response = try await answer(trailed, to: .empty)
        #expect(
            response.trailers
                == HttpHeader([
                    .init(name: "Digest", value: "one"), .init(name: "X-Row", value: "1"),
                    .init(name: "x-row", value: "2"),
                ])
        )
        #expect(response.header["Digest"] == "of the header")
        #expect(response.header["X-Row"] == nil)
    }

    @Test("trailers reach a caller whose own body was a stream")
    func behindUpload() async throws {
        let parts = HttpBodyStream(
            once: AsyncStream { parts in
                parts.yield(Data("a body".utf8))
                parts.finish()
            }
        )
        #expect(try await answer(trailed, to: .stream(parts)).trailers["Digest"] == "one")
    }

    @Test("a body without trailers has no fields behind it")
    func none() async throws {
        let plain = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
        #expect(try await answer(plain, to: .empty).trailers.isEmpty)
    }

    private let trailed =
        "HTTP/1.1 200 OK\r\nDigest: of the header\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
        + "Digest: one\r\nX-Row: 1\r\nx-row: 2\r\n\r\n"

    private func answer(_ answer: String, to body: HttpBody) async throws -> HttpResponse<Void> {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.write(answer)
        } whileOpen: { server in
            try await Probe(method: .put, body: body).response(with: service(server.url))
        }
    }
}
