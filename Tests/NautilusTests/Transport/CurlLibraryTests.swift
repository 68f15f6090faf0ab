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

        @Test(
            "HTTP/2 is used with the versions that it is proven with, if they have it",
            arguments: [
                (0x07_58_01, true, false), (0x08_05_00, true, true), (0x08_05_00, false, false),
                (0x08_0C_01, true, false), (0x08_0E_01, true, true), (0x08_13_00, true, false),
            ] as [(UInt32, Bool, Bool)]
        )
        func http2(number: UInt32, hasHttp2: Bool, isUsed: Bool) {
            let library = CurlLibrary(version: "version", tls: "TLS", number: number, hasHttp2: hasHttp2)
            #expect((library.http2Unusable == nil) == isUsed)
        }

        @Test(
            "its trace of HTTP/2 is read of the version of which it is proven what that says",
            arguments: [
                (0x07_58_01, true, false), (0x08_05_00, true, false), (0x08_09_01, true, false),
                (0x08_0E_01, true, true), (0x08_0E_01, false, false), (0x08_13_00, true, false),
            ] as [(UInt32, Bool, Bool)]
        )
        func trace(number: UInt32, hasHttp2: Bool, isRead: Bool) {
            let library = CurlLibrary(version: "version", tls: "TLS", number: number, hasHttp2: hasHttp2)
            #expect(library.hasProvenTrace == isRead)
        }

        @Test("over TLS, what may run twice and has no body goes over HTTP/2, and with a trace everything")
        func multiplexed() throws {
            let library = CurlLibrary(version: "8.14.1", tls: "TLS", number: 0x08_0E_01, hasHttp2: true)
            let unproven = CurlLibrary(version: "7.88.1", tls: "TLS", number: 0x07_58_01, hasHttp2: true)
            let body = HttpBody.Payload.data(Data("body".utf8))
            let key: HttpHeader = ["Idempotency-Key": "1"]
            for (method, header, body, isUsed) in [
                (.get, [:], .empty, true), (.delete, [:], .empty, true), (.put, [:], body, false),
                (.put, [:], .empty, false), (.post, [:], .empty, false), (.post, [:], body, false),
                (.post, key, body, false), (.delete, [:], body, false),
                (HttpMethod(rawValue: "NOTIFY"), [:], .empty, false),
            ] as [(HttpMethod, HttpHeader, HttpBody.Payload, Bool)] {
                for scheme in ["https", "http"] {
                    let url = try #require(URL(string: "\(scheme)://example.com/"))
                    let request = try CurlRequest(HttpRequest(method: method, url: url, header: header, body: body))
                    let isSecure = scheme == "https"
                    #expect(library.multiplexes(request, isTraced: false) == (isUsed && isSecure))
                    #expect(library.multiplexes(request, isTraced: true) == isSecure)
                    #expect(!unproven.multiplexes(request, isTraced: false))
                }
            }
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
#endif
