import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("Request bodies on the wire", .timeLimit(.minutes(10)), .whereAvailable)
struct BodyTests {
    private struct Send: Request {
        typealias Result = Void
        let body: HttpBody
        var method: HttpMethod = .put
        var route: HttpRoute { [] }
    }

    @Test(
        "small bodies are sent with their type and their length",
        arguments: [
            (HttpBody.json(["a": 1]), "application/json", #"{"a":1}"#),
            (.form(["q": "a b&c", "n": "ü"]), "application/x-www-form-urlencoded", "q=a%20b%26c&n=%C3%BC"),
            (.media(Data("png".utf8), .png), "image/png", "png"),
        ]
    )
    func small(body: HttpBody, type: String, text: String) async throws {
        let request = try await sent(Send(body: body))
        #expect(request.values(of: "Content-Type") == [type])
        #expect(request.values(of: "Content-Length") == ["\(text.utf8.count)"])
        #expect(String(decoding: request.body, as: UTF8.self) == text)
    }

    @Test("a form with a file in it, read from the disk, with the length of all of it")
    func form() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "nautilus-form-\(UUID().uuidString).png"
        )
        let picture = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try picture.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let form: MultipartForm = [.text("Shell", named: "title"), .file(file, named: "photo", fileName: "shell.png")]
        let request = try await sent(Send(body: .multipart(form)))
        let type = try #require(request.values(of: "Content-Type").first)
        let boundary = try #require(type.split(separator: "=").last)
        #expect(type == "multipart/form-data; boundary=\(boundary)")
        let head = """
            --\(boundary)\r
            Content-Disposition: form-data; name="title"\r
            \r
            Shell\r
            --\(boundary)\r
            Content-Disposition: form-data; name="photo"; filename="shell.png"\r
            Content-Type: image/png\r
            \r

            """
        let body = Data(head.utf8) + picture + Data("\r\n--\(boundary)--\r\n".utf8)
        #expect(request.body == body)
        #expect(request.values(of: "Content-Length") == ["\(body.count)"])
    }

    @Test("a stream from a factory is made again for another attempt, and for a redirect that keeps it")
    func replayed() async throws {
        let answers = [
            "503 Unavailable\r\nRetry-After: 0", "307 Elsewhere\r\nLocation: /there", "200 OK",
        ]
        let requests = try await ScriptedServer.run { connection in
            while true {
                let request = try await connection.readRequest()
                let index = request.path == "/there" ? 2 : request.values(of: "X-Attempt") == ["1"] ? 0 : 1
                try await connection.write("HTTP/1.1 \(answers[index])\r\nContent-Length: 0\r\n\r\n")
            }
        } whileOpen: { server in
            let body = HttpBody.stream(from: { Self.chunks })
            try await Send(body: body).schedule(with: service(server.url, numbered: true))
            return await server.requests
        }
        #expect(requests.map(\.path) == ["/", "/", "/there"])
        #expect(requests.map(\.body) == Array(repeating: Data("abcdef".utf8), count: 3))
    }

    @Test("a one-shot stream is sent once: the real error surfaces")
    func oneShot() async throws {
        try await ScriptedServer.run { connection in
            while true {
                _ = try await connection.readRequest()
                try await connection.respond("503 Unavailable", ["Retry-After: 0"])
            }
        } whileOpen: { server in
            let request = Send(body: .stream(Self.chunks))
            let error = await #expect(throws: HttpError.self) { try await request.schedule(with: service(server.url)) }
            #expect(error?.kind == .status(503))
            #expect(await server.requests.map(\.body) == [Data("abcdef".utf8)])
        }
    }

    private static var chunks: AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { source in
            for text in ["abc", "def"] { source.yield(Data(text.utf8)) }
            source.finish()
        }
    }

    /// Sends a request, which is answered with 200, and returns it as the server has received it.
    private func sent(_ request: Send) async throws -> RecordedRequest {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond()
        } whileOpen: { server in
            try await request.schedule(with: service(server.url))
            return try #require(await server.requests.first)
        }
    }
}
