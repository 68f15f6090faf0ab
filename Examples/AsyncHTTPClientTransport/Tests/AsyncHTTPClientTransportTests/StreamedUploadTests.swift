import AsyncHTTPClientTransport
import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("Streamed request bodies", .timeLimit(.minutes(10)))
struct StreamedUploadTests {
    @Test("a request's chunks are sent as they come, with their length if it is known", arguments: [nil, Int64(6)])
    func upload(length: Int64?) async throws {
        let (chunks, source) = AsyncThrowingStream.makeStream(of: Data.self, throwing: (any Error).self)
        try await ScriptedServer.run { connection in
            let head = try await connection.readHead()
            // Nothing of the body exists before the header has come.
            source.yield(Data("abc".utf8))
            source.yield(Data("def".utf8))
            source.finish()
            #expect(head.values(of: "Content-Length") == (length == nil ? [] : ["6"]))
            if length == nil {
                try await connection.respond(body: Data(await connection.readChunkedBody()))
            } else {
                try await connection.skip(6)
                try await connection.respond(body: Data("abcdef".utf8))
            }
        } whileOpen: { server in
            let body = HttpBody.Payload.stream(HttpBodyStream(once: chunks, length: length))
            let response = try await stream(.post, server.url, body: body)
            #expect(try await response.body.text == "abcdef")
        }
    }

    @Test("an answer to all bytes is read whole, however late the stream says that it has ended")
    func lateEnd() async throws {
        let (chunks, source) = AsyncThrowingStream.makeStream(of: Data.self, throwing: (any Error).self)
        source.yield(Data("abcdef".utf8))
        try await ScriptedServer.run { connection in
            try await connection.readHead()
            try await connection.skip(6)
            let head = "HTTP/1.1 422 Unprocessable\r\nTransfer-Encoding: chunked\r\n\r\n"
            try await connection.write(head + "2\r\nno\r\n0\r\n\r\n")
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let body = HttpBodyStream(once: chunks, length: 6)
            let response = try await send(.post, server.url, body: .stream(body))
            #expect(response.status == 422)
            #expect(response.text == "no")
            source.finish()
        }
    }

    @Test(
        "an answer that comes before the body has been sent counts, and ends the sending",
        .timeLimit(.minutes(10)),
        arguments: [("Content-Length: 3\r\n\r\nabc", "abc"), ("Content-Length: 0\r\n\r\n", ""), ("\r\nabc", "")]
    )
    func earlyAnswer(rest: String, body: String) async throws {
        let endless = HttpBodyStream(from: { AsyncThrowingStream(unfolding: { Data(count: 10_000) }) })
        try await ScriptedServer.run { connection in
            try await connection.readHead()
            try await connection.write("HTTP/1.1 413 Too Large\r\nConnection: close\r\n\(rest)")
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let response = try await send(.post, server.url, body: .stream(endless))
            #expect(response.status == 413)
            #expect(String(decoding: response.body, as: UTF8.self) == body)
        }
    }
}
