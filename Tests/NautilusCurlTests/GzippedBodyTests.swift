#if os(Linux)
    import Foundation
    import NautilusTesting
    import TestSupport
    import Testing

    @testable import Nautilus
    @testable import NautilusCurl
    @testable import NautilusHTTP

    @Suite("Bodies compressed with gzip", .enabled(if: ContentDecoder.undoesGzip, "zlib cannot be loaded here"))
    struct GzippedBodyTests {
        private func inflate(_ bytes: Data) throws -> Data {
            let decoder = try #require(ContentDecoder("gzip"))
            var inflated = Data()
            _ = try bytes.withUnsafeBytes { part in
                try decoder.run(part) { piece in
                    inflated.append(contentsOf: piece)
                    return .more
                }
            }
            #expect(decoder.isWhole)
            return inflated
        }

        /// Data that no compressor makes small, so that its output is full again and again.
        private static let noise: Data = {
            var state: UInt64 = 7
            return Data(
                (0..<300_000).map { _ in
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    return UInt8(truncatingIfNeeded: state >> 56)
                }
            )
        }()

        @Test(
            "a gzipped body goes out in one piece",
            arguments: [Data(), Data("note".utf8), Data(count: 1_000_000), noise]
        )
        func whole(content: Data) async throws {
            let transport = ScriptedTransport(.reply(text: "ok"))
            let service = AnyHttpService<HttpError>(apiUrl: "a.com", transport: transport)
            let body = HttpBody.data(content, contentType: "text/plain").gzipped()
            _ = try await Ping(method: .put, body: body).schedule(with: service)
            let sent = try #require(transport.attempts.first)
            #expect(sent.header[.contentEncoding] == "gzip")
            let bytes = try #require(sent.body)
            #expect(try inflate(bytes) == content)
        }

        @Test("a stream is compressed piece by piece, and from its beginning for the next attempt")
        func stream() async throws {
            let pieces = stride(from: 0, to: Self.noise.count, by: 70_000).map {
                Self.noise.dropFirst($0).prefix(70_000)
            }
            let transport = ScriptedTransport(.status(503), .reply(text: "ok"))
            let service = AnyHttpService<HttpError>(
                apiUrl: "a.com",
                retrierFactory: ScriptedRetrier.factory { asked, _ in asked < 1 ? true : false },
                transport: transport
            )
            let body = HttpBody.stream {
                AsyncStream<Data> { source in
                    for piece in pieces { source.yield(Data(piece)) }
                    source.finish()
                }
            }
            _ = try await Ping(method: .put, body: body.gzipped()).schedule(with: service)
            let sent = transport.attempts.compactMap(\.body)
            #expect(sent.count == 2)
            for bytes in sent { #expect(try inflate(bytes) == Self.noise) }
        }
    }
#endif
