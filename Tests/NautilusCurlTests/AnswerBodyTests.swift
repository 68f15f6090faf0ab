#if os(Linux)
    import Foundation
    import Testing

    @testable import Nautilus
    @testable import NautilusCurl
    @testable import NautilusHTTP

    @Suite("The body of an answer that libcurl brings", .enabled(if: ContentDecoder.undoesGzip, "no zlib"))
    struct AnswerBodyTests {
        private static let gzip = Data([
            0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x86, 0xA6, 0x10, 0x36,
            0x05, 0, 0, 0,
        ])

        private static func body(
            _ status: Int,
            _ fields: String,
            _ bytes: Data,
            by step: Int = .max,
            limit: Int = 1_000
        ) throws -> CurlBody {
            var head = CurlResponseHead(limit: 1_000)
            for line in ["HTTP/1.1 \(status) Status", fields, ""] {
                _ = try Array((line + "\r\n").utf8).withUnsafeBytes { try head.take($0) }
            }
            var body = CurlBody(limit: limit, download: nil)
            guard body.begin(head) else { return body }
            var rest = bytes
            while !rest.isEmpty {
                let part = Data(rest.prefix(step))
                guard part.withUnsafeBytes({ body.take($0) }) == part.count else { break }
                rest = rest.dropFirst(step)
            }
            body.end()
            return body
        }

        @Test(
            "F3: the body of an error that is not coded as its header says is kept as it was sent",
            arguments: ["gzip", "x-gzip", "deflate", "br", "zstd", "gzip, gzip"].filter {
                ContentDecoders($0.components(separatedBy: ", ")) != nil
            },
            [1, 5, .max]
        )
        func lyingError(coding: String, step: Int) throws {
            for text in ["{\"error\":\"expired\"}", "Unauthorized", "no", "x", "<html><body>503</body></html>\r\n"] {
                let body = try Self.body(401, "Content-Encoding: \(coding)", Data(text.utf8), by: step)
                #expect(String(decoding: body.bytes, as: UTF8.self) == text)
                #expect(body.failure == TransportError(.cannotDecodeContentData) || body.lacksEnd)
            }
        }

        @Test("F3: the body of a success that is not coded as its header says is an error", arguments: [1, .max])
        func lyingSuccess(step: Int) throws {
            let body = try Self.body(200, "Content-Encoding: gzip", Data("hello".utf8), by: step)
            #expect(body.bytes.isEmpty)
            #expect(body.failure == TransportError(.cannotDecodeContentData))
        }

        @Test("F3: of the body of an error that breaks in the middle, what was decoded is kept", arguments: [200, 503])
        func brokenInside(status: Int) throws {
            let damaged = Self.gzip.dropLast(8) + Data(count: 8)
            let body = try Self.body(status, "Content-Encoding: gzip", damaged)
            #expect(String(decoding: body.bytes, as: UTF8.self) == "hello")
            #expect(body.failure == TransportError(.cannotDecodeContentData))
            let cut = try Self.body(status, "Content-Encoding: gzip", Self.gzip.dropLast(8))
            #expect(String(decoding: cut.bytes, as: UTF8.self) == "hello")
            #expect(cut.lacksEnd)
        }

        @Test("F3: of the body of an error that is too large, the beginning is kept")
        func tooLarge() throws {
            for fields in ["Content-Length: 8", "A: b"] {
                let body = try Self.body(503, fields, Data("too much".utf8), limit: 3)
                #expect(String(decoding: body.bytes, as: UTF8.self) == "too")
                #expect(body.failure == .responseTooLarge(limit: 3))
            }
        }

        @Test(
            "F4: a body with a transfer coding that was not asked for is refused, whatever its status",
            arguments: ["gzip, chunked", "gzip", "deflate, chunked", "shell", "chunked, gzip"],
            [200, 401]
        )
        func transferCoding(coding: String, status: Int) throws {
            let body = try Self.body(status, "Transfer-Encoding: \(coding)", Self.gzip)
            #expect(body.bytes.isEmpty)
            #expect(body.failure == .unrequestedCoding)
        }

        @Test(
            "F4: chunks are no such coding, however they are announced",
            arguments: ["chunked", "Chunked", "chunked, chunked", "identity", "identity, chunked", ""]
        )
        func chunked(coding: String) throws {
            let body = try Self.body(200, "Transfer-Encoding: \(coding)", Data("hello".utf8))
            #expect(String(decoding: body.bytes, as: UTF8.self) == "hello")
            #expect(body.failure == nil)
        }
    }
#endif
