import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("The body of an answer that is not coded as its header says", .timeLimit(.minutes(10)), .whereAvailable)
struct CodedErrorTests {
    private static func answer(_ status: Int, _ coding: String, _ body: Data) -> ScriptedServer.Script {
        { connection in
            while true {
                _ = try await connection.readRequest()
                let fields = "Content-Encoding: \(coding)\r\nRetry-After: 0\r\nContent-Length: \(body.count)"
                try await connection.write("HTTP/1.1 \(status) Status\r\n\(fields)\r\n\r\n")
                try await connection.write(body)
            }
        }
    }

    @Test(
        "F3: an error keeps its status, its header and its text, and a kept connection its use",
        arguments: [401, 404, 503],
        ["gzip", "deflate", "gzip, gzip", "br", "gzip, gzip, gzip, gzip, gzip, gzip"]
    )
    func lying(status: Int, coding: String) async throws {
        try await ScriptedServer.run(Self.answer(status, coding, Data("expired".utf8))) { server in
            let service = AnyHttpService(apiUrl: server.url, transport: TransportUnderTest.make())
            for _ in 0..<2 {
                let error = await #expect(throws: HttpError.self) { try await Probe().schedule(with: service) }
                #expect(error?.kind == .status(status))
                #expect(error?.response?.header["Retry-After"] == "0")
                if coding == "gzip" { #expect(error?.response?.text == "expired") }
            }
            if coding == "gzip" { #expect(await server.connectionCount == 1) }
        }
    }

    @Test("F3: a streamed error keeps status and text, though it is miscoded", arguments: ["gzip", "gzip, gzip"])
    func download(coding: String) async throws {
        try await ScriptedServer.run(Self.answer(404, coding, Data("gone".utf8))) { server in
            let service = AnyHttpService(apiUrl: server.url, transport: TransportUnderTest.make())
            let error = await #expect(throws: HttpError.self) { try await Chunks().schedule(with: service) }
            #expect(error?.kind == .status(404))
            #expect(error?.response?.text == "gone")
        }
    }

    @Test("F3: a streamed success whose body is broken fails while it is read, with the status in the error")
    func streamed() async throws {
        try await ScriptedServer.run(Self.answer(200, "gzip", Data("no gzip".utf8))) { server in
            let service = AnyHttpService(apiUrl: server.url, transport: TransportUnderTest.make())
            let body = try await Chunks().schedule(with: service)
            let error = await #expect(throws: HttpError.self) { for try await _ in body {} }
            #expect(error?.kind == .transport(.cannotDecodeContentData))
            #expect(error?.status == 200)
        }
    }

    /// Gzip of less than 256 bytes, as they are (RFC 1951 §3.2.4).
    private static func gzip(_ body: Data) -> Data {
        let checksum = ~body.reduce(UInt32.max) { checksum, byte in
            (0..<8).reduce(checksum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        let length = UInt8(body.count)
        let head = Data([0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0x01, length, 0, ~length, 0xFF])
        let sum = Data((0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * UInt32($0))) })
        return head + body + sum + Data([length, 0, 0, 0])
    }

    @Test("F4: a body that was encoded twice is decoded twice, whatever lies behind its end")
    func twice() async throws {
        let twice = Self.gzip(HostileAnswer.gzip)
        for body in [twice, twice + Data("\r\n".utf8), twice + Data(count: 512)] {
            try await ScriptedServer.run(Self.answer(200, "gzip, gzip", body)) { server async throws in
                #expect(try await send(.get, server.url).text == "hello")
                #expect(try await stream(.get, server.url).body.text == "hello")
            }
        }
    }
}

/// A body that is read while it arrives.
private struct Chunks: Request {
    typealias Result = HttpBodyStream
    var route: HttpRoute { ["chunks"] }
}
