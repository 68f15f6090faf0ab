#if os(Linux)
    import Foundation
    import Testing

    @testable import Nautilus
    @testable import NautilusCurl
    @testable import NautilusHTTP
    @testable import NautilusURLSession

    @Suite("The choice of libcurl")
    struct CurlLibraryTests {
        @Test(
            "libcurl is used with a TLS library that threads can share",
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

        @Test("the platform's transport is libcurl's, unless there is a reason why libcurl cannot be used")
        func reason() throws {
            switch CurlLibrary.found {
            case .success(let library):
                #expect(CurlTransport.unavailability == nil)
                #expect(CurlTransport.library == "libcurl \(library.version) with \(library.tls)")
                #expect(AnyHttpService(apiUrl: "").transport is CurlTransport)
                #expect(library.number >= CurlLibrary.oldestNumber)
            case .failure(let reason):
                #expect(CurlTransport.unavailability == reason.description)
                #expect(CurlTransport.library == nil)
                #expect(AnyHttpService(apiUrl: "").transport is URLSessionTransport)
            }
        }
    }
#endif
