#if os(Linux)
    import Foundation
    import Testing

    @testable import Nautilus

    @Suite("libcurl is used where that is safe")
    struct CurlLibraryTests {
        @Test(
            "with a TLS library that threads can share",
            arguments: [
                ("OpenSSL/3.0.19", true), ("OpenSSL/1.1.1n", true), ("OpenSSL/1.0.2k-fips", false),
                ("OpenSSL/0.9.8", false),
                ("GnuTLS/3.7.9", true), ("BoringSSL", true), ("LibreSSL/3.8.2", true),
                ("(OpenSSL/3.0.2) GnuTLS/3.7", true),
                ("(GnuTLS/3.7) OpenSSL/1.0.2", false), ("NSS/3.90", false), ("mbedTLS/2.28", false), ("", false),
            ]
        )
        func tls(text: String, isSafe: Bool) {
            #expect(CurlLibrary.isSafe(tls: text) == isSafe)
        }

        @Test("and it says which transport was chosen, and why")
        func reason() throws {
            switch CurlLibrary.found {
            case .success(let library):
                #expect(CurlTransport.unavailability == nil)
                #expect(PlatformTransport.shared is CurlTransport)
                let reason = "CurlTransport: libcurl \(library.version) with \(library.tls) is there."
                #expect(PlatformTransport.reason == reason)
                #expect(library.number >= CurlLibrary.oldestNumber)
            case .failure(let reason):
                #expect(CurlTransport.unavailability == reason.description)
                #expect(PlatformTransport.shared is URLSessionTransport)
                #expect(PlatformTransport.reason == "URLSessionTransport: \(reason).")
            }
        }
    }

    @Suite("gzip and deflate are undone", .enabled(if: CurlInflater.isAvailable, "zlib cannot be loaded here"))
    struct CurlInflaterTests {
        /// 100 000 zeros, in gzip.
        private static let zeros = Data(
            base64Encoded: "H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0PoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIBXA32VEdSghgEA"
        )

        private func inflate(_ bytes: Data, _ coding: String = "gzip", by step: Int = .max) throws -> Data {
            let inflater = try #require(CurlInflater(coding))
            var (inflated, rest) = (Data(), bytes)
            while !rest.isEmpty {
                try rest.prefix(step).withUnsafeBytes { part in
                    try inflater.run(part) { piece in
                        inflated.append(contentsOf: piece)
                        return true
                    }
                }
                rest = rest.dropFirst(step)
            }
            if !inflater.isWhole { throw CurlInflater.Broken() }
            return inflated
        }

        @Test("whole and byte by byte, with all that is still in the decoder at the end", arguments: [1, 7, .max])
        func zeros(step: Int) throws {
            let zeros = try #require(Self.zeros)
            #expect(try inflate(zeros, by: step) == Data(count: 100_000))
            #expect(try inflate(zeros + zeros, by: step) == Data(count: 200_000))
        }

        @Test("cut at any byte, it is broken, but for the beginning")
        func cut() throws {
            let zeros = try #require(Self.zeros)
            for count in 1..<zeros.count {
                #expect(throws: CurlInflater.Broken.self) { try inflate(zeros.prefix(count)) }
            }
            #expect(try inflate(Data()) == Data())
        }

        @Test("nothing more is made once nobody wants it")
        func stopped() throws {
            let (zeros, inflater) = (try #require(Self.zeros), try #require(CurlInflater("x-gzip")))
            var calls = 0
            try zeros.withUnsafeBytes { bytes in
                try inflater.run(bytes) { _ in
                    calls += 1
                    return false
                }
            }
            #expect(calls == 1)
        }

        @Test("other codings are not known", arguments: ["br", "zstd", "identity", ""])
        func unknown(coding: String) {
            #expect(CurlInflater(coding) == nil)
        }
    }
#endif
