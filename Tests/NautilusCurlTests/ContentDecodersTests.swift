#if os(Linux)
    import Foundation
    import Testing

    @testable import Nautilus
    @testable import NautilusCurl
    @testable import NautilusHTTP

    @Suite("Several codings of one body", .enabled(if: ContentDecoder.undoesGzip, "zlib cannot be loaded here"))
    struct ContentDecodersTests {
        /// More than the decoder makes at once, and less compressible than zeros.
        private static let plain = Data((0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })

        private static func gzip(_ body: Data, times: Int) throws -> Data {
            try (0..<times).reduce(body) { bytes, _ in
                let encoder = try GzipEncoder()
                return try encoder.encode(bytes) + encoder.finish()
            }
        }

        @Test("F4: a body that was encoded several times is decoded as often", arguments: [1, 2, 5], [1_000, .max])
        func several(times: Int, step: Int) throws {
            let decoders = try #require(ContentDecoders(Array(repeating: "gzip", count: times)))
            var (decoded, rest) = (Data(), try Self.gzip(Self.plain, times: times))
            while !rest.isEmpty {
                try rest.prefix(step).withUnsafeBytes { part in
                    let demand = try decoders.run(part) { piece in
                        decoded.append(contentsOf: piece)
                        return .more
                    }
                    #expect(demand == .more)
                }
                rest = rest.dropFirst(step)
            }
            #expect(decoded == Self.plain)
            #expect(decoders.isWhole)
        }

        @Test("F4: several codings make no more at once than is asked for, and lose nothing", arguments: [1, 2, 3])
        func inParts(times: Int) throws {
            let decoders = try #require(ContentDecoders(Array(repeating: "gzip", count: times)))
            let bytes = try Self.gzip(Self.plain, times: times)
            var (decoded, demand) = (Data(), ContentDecoder.Demand.later)
            // What was not taken comes once more, with what has arrived since.
            for arrived in [bytes.count / 2, bytes.count] {
                demand = .later
                var calls = 0
                while demand == .later, calls < 1_000 {
                    calls += 1
                    try bytes[(arrived == bytes.count ? bytes.count / 2 : 0)..<arrived].withUnsafeBytes { part in
                        var pieces = 0
                        demand = try decoders.run(part) { piece in
                            pieces += 1
                            decoded.append(contentsOf: piece)
                            return .later
                        }
                        // What each coding has kept back.
                        #expect(pieces <= times)
                    }
                }
            }
            #expect(demand == .more)
            #expect(decoded == Self.plain)
            #expect(decoders.isWhole)
        }

        @Test("F4: a body that was encoded twice and breaks off, in either coding, is broken")
        func cut() throws {
            let once = try Self.gzip(Data("hello".utf8), times: 1)
            for bytes in [try Self.gzip(once, times: 1).dropLast(3), try Self.gzip(once.dropLast(3), times: 1), once] {
                let decoders = try #require(ContentDecoders(["gzip", "gzip"]))
                let isWhole = bytes.withUnsafeBytes { bytes in
                    (try? decoders.run(bytes) { _ in .more }) == .more && decoders.isWhole
                }
                #expect(!isWhole)
            }
        }

        @Test("no decoder is made for no coding, or if one of several is unknown")
        func unknown() {
            for names in [[], ["compress"], ["gzip", "compress"], ["compress", "gzip"]] {
                #expect(ContentDecoders(names) == nil)
            }
        }
    }
#endif
