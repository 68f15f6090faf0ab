import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("A file as a body")
struct FileBodyTests {
    private let folder = try? TemporaryFolder()

    private func file(_ name: String, _ bytes: Data) throws -> URL { try #require(folder).file(name, bytes) }

    private func service(_ transport: ScriptedTransport, retries: Int = 0) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "a.com",
            retrierFactory: ScriptedRetrier.factory { asked, _ in asked < retries ? true : false },
            transport: transport
        )
    }

    @Test("a file comes in chunks of 64 KiB, with its length", arguments: [0, 1, 65_535, 65_536, 65_537, 200_000])
    func chunks(count: Int) async throws {
        let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let stream = try HttpBodyStream(file: file("a.bin", bytes))
        #expect(stream.length == Int64(count))
        #expect(!stream.isOneShot)
        for _ in 0..<2 {
            var (read, sizes) = (Data(), [Int]())
            for try await chunk in stream {
                read += chunk
                sizes.append(chunk.count)
            }
            #expect(read == bytes)
            #expect(sizes.dropLast().allSatisfy { $0 == 65_536 })
            #expect(sizes.count == (count + 65_535) / 65_536)
        }
    }

    @Test(
        "the type of a file body comes from its name, unless another is named",
        arguments: [
            ("a.png", nil, "image/png"), ("a", nil, "application/octet-stream"),
            ("a.png", HttpMimeType.gif, "image/gif"),
        ]
    )
    func type(name: String, type: HttpMimeType?, header: String) async throws {
        let body = HttpBody.file(try file(name, Data("x".utf8)), contentType: type)
        let transport = ScriptedTransport(.reply(text: "ok"))
        _ = try await Ping(method: .put, body: body).schedule(with: service(transport))
        #expect(transport.attempts[0].header[.contentType] == header)
        #expect(transport.attempts[0].body == Data("x".utf8))
        #expect(HttpBody.media(Data(), .png).contentType == "image/png")
    }

    @Test("a file as a body is sent again whole after a failure or a redirect that keeps the body")
    func replayed() async throws {
        let bytes = Data(count: 100_000)
        let body = HttpBody.file(try file("a", bytes))
        let transport = ScriptedTransport(.status(503), .status(307, header: ["Location": "/b"]), .reply(text: "ok"))
        _ = try await Ping(method: .put, body: body).schedule(with: service(transport, retries: 1))
        #expect(transport.attempts.map(\.body) == [bytes, bytes, bytes])
    }

    @Test("a file that cannot be read is refused before anything is sent")
    func unreadable() async throws {
        let folder = try #require(folder)
        let cases: [(URL, HttpBodyStream.FileError)] = [
            (folder.url.appendingPathComponent("none.png"), .missing(name: "none.png")),
            (folder.url, .notRegular(name: folder.url.lastPathComponent)),
        ]
        for (url, reason) in cases {
            let transport = ScriptedTransport()
            let call = Ping(method: .put, body: .file(url))
            let error = await #expect(throws: HttpError.self) { try await call.schedule(with: service(transport)) }
            #expect(error?.kind == .invalidRequest(.file(reason)))
            #expect(error?.delivery == .notSent)
            #expect(transport.count == 0)
            #expect(error?.description.contains(folder.url.deletingLastPathComponent().path) == false)
        }
    }

    @Test("a file that becomes shorter while it is sent is an error, and not a shorter body")
    func shortened() async throws {
        let url = try file("a", Data(count: 100_000))
        let stream = try HttpBodyStream(file: url)
        try Data(count: 70_000).write(to: url)
        await #expect(throws: HttpBodyStream.FileError.changed(name: "a")) { try await stream.collected(limit: .max) }
    }
}
