#if os(Linux)
    import Foundation
    import Testing

    @testable import Nautilus
    @testable import NautilusCurl
    @testable import NautilusHTTP

    @Suite("The decoding of bodies", .enabled(if: ContentDecoder.undoesGzip, "zlib cannot be loaded here"))
    struct ContentDecoderTests {
        /// 100 000 zeros in a coding, for each that can be undone here.
        static let zeros: [(coding: String, bytes: Data)] = [
            (
                "gzip",
                "H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0PoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIBXA32VEdSghgEA"
            ),
            ("br", "W5+GgX8CIB4LBLL8AgA="),
            ("zstd", "KLUv/aSghgEAVQAAEAAAAQCbhjnAAtsjTvM="),
        ].compactMap { coding, text in
            guard ContentDecoder(coding) != nil else { return nil }
            return Data(base64Encoded: text).map { (coding, $0) }
        }

        private func decode(_ bytes: Data, _ coding: String, by step: Int = .max) throws -> Data {
            let decoder = try #require(ContentDecoder(coding))
            var (decoded, rest) = (Data(), bytes)
            while !rest.isEmpty {
                try rest.prefix(step).withUnsafeBytes { part in
                    let demand = try decoder.run(part) { piece in
                        decoded.append(contentsOf: piece)
                        return .more
                    }
                    #expect(demand == .more)
                }
                rest = rest.dropFirst(step)
            }
            if !decoder.isWhole { throw ContentDecoder.Broken() }
            return decoded
        }

        @Test(
            "a body is decoded completely, in one piece or byte by byte",
            arguments: zeros,
            [1, 7, .max]
        )
        func whole(zeros: (coding: String, bytes: Data), step: Int) throws {
            #expect(try decode(zeros.bytes, zeros.coding, by: step) == Data(count: 100_000))
        }

        @Test("gzip and zstd members may follow one another; one that breaks off is an error", arguments: zeros)
        func members(coding: String, bytes: Data) throws {
            guard coding != "br" else { return }
            #expect(try decode(bytes + bytes, coding) == Data(count: 200_000))
            #expect(throws: ContentDecoder.Broken.self) { try decode(bytes + bytes.dropLast(5), coding) }
        }

        @Test(
            "F4: bytes behind the end of a body's coding that begin no further member are ignored, as browsers do",
            arguments: zeros + hello,
            ["\n", "\r\n", "\0\0\0\0\0\0\0\0", "more than a magic"]
        )
        func surplus(body: (coding: String, bytes: Data), behind: String) throws {
            let whole = try decode(body.bytes, body.coding)
            for step in [1, 7, .max] {
                #expect(try decode(body.bytes + Data(behind.utf8), body.coding, by: step) == whole)
            }
        }

        @Test("F4: deflate is decoded with zlib's header and without", arguments: hello, [1, 2, .max])
        func deflate(hello: (coding: String, bytes: Data), step: Int) throws {
            #expect(try decode(hello.bytes, hello.coding, by: step) == Data("hello".utf8))
        }

        /// `hello` in deflate, raw (RFC 1951) and with zlib's header (RFC 1950).
        static let hello: [(coding: String, bytes: Data)] = {
            let raw = Data([0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
            return [("deflate", raw), ("deflate", Data([0x78, 0x9C]) + raw + [0x06, 0x2C, 0x02, 0x15])]
        }()

        @Test("an encoded body that is cut at any byte is an error, unless nothing has arrived", arguments: zeros)
        func cut(coding: String, bytes: Data) throws {
            for count in 1..<bytes.count {
                #expect(throws: ContentDecoder.Broken.self) { try decode(bytes.prefix(count), coding) }
            }
            #expect(try decode(Data(), coding) == Data())
        }

        @Test("a decoder makes no more bytes once nobody wants them", arguments: zeros)
        func stopped(coding: String, bytes: Data) throws {
            let decoder = try #require(ContentDecoder(coding))
            var calls = 0
            try bytes.withUnsafeBytes { bytes in
                let demand = try decoder.run(bytes) { _ in
                    calls += 1
                    return .never
                }
                #expect(demand == .never)
            }
            #expect(calls == 1)
        }

        @Test(
            "a decoder makes no more bytes than requested, and makes the rest when it is called again",
            arguments: zeros
        )
        func inParts(coding: String, bytes: Data) throws {
            let decoder = try #require(ContentDecoder(coding))
            let (one, two) = (bytes, coding == "br" ? bytes : bytes + bytes)
            var (pieces, decoded) = (0, Data())
            var demand = ContentDecoder.Demand.later
            for _ in 1...100 where demand == .later {
                // The second time and later there is more behind it.
                demand = try (pieces == 0 ? one : two).withUnsafeBytes { bytes in
                    let before = pieces
                    let demand = try decoder.run(bytes) { piece in
                        pieces += 1
                        decoded.append(contentsOf: piece)
                        return .later
                    }
                    #expect(pieces <= before + 1)
                    return demand
                }
            }
            #expect(demand == .more)
            #expect(decoder.isWhole)
            #expect(decoded == Data(count: coding == "br" ? 100_000 : 200_000))
            #expect(pieces >= decoded.count / 65_536)
        }

        @Test("a zstd frame may have a window of 8 MiB, and no larger one (RFC 9659)")
        func window() throws {
            guard ContentDecoder("zstd") != nil else { return }
            let frame = { Data([0x28, 0xB5, 0x2F, 0xFD, 0, $0, 0x4D, 0, 0, 0x10, 0, 0, 1, 0, 0xE3, 0x2B, 0x80, 0x05]) }
            #expect(try decode(frame(0x68), "zstd") == Data(count: 1000))
            #expect(throws: ContentDecoder.Broken.self) { try decode(frame(0x70), "zstd") }
        }

        @Test("only codings that can be decoded are requested")
        func accepted() {
            let names = ["gzip", "deflate", "br", "zstd"].filter { ContentDecoder($0) != nil }
            #expect(ContentDecoder.accepted == names.joined(separator: ", "))
        }

        @Test("unknown codings are not decoded", arguments: ["compress", "dcb", "identity", ""])
        func unknown(coding: String) {
            #expect(ContentDecoder(coding) == nil)
        }
    }
#endif
