import Foundation
import Testing

@testable import NautilusHTTP
@testable import NautilusURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Codes and deliveries of Foundation's errors")
struct TransportFailureTests {
    @Test(
        "libcurl's words decide where Foundation's code says less",
        arguments: [
            (
                "Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server", .cannotConnectToHost,
                .cannotConnectToHost
            ),
            (
                "Failed to connect to a.example port 80 after 2 ms: Network is unreachable", .unknown,
                .cannotConnectToHost
            ),
            ("Could not resolve host: a.invalid", .cannotFindHost, .cannotFindHost),
            ("Could not resolve proxy: a.invalid", .unknown, .cannotFindHost),
            ("SSL certificate problem: self-signed certificate", .unknown, .serverCertificateUntrusted),
            ("SSL certificate problem: certificate has expired", .unknown, .serverCertificateHasBadDate),
            ("SSL certificate problem: certificate is not yet valid", .unknown, .serverCertificateNotYetValid),
            (
                "SSL: no alternative certificate subject name matches target host name 'a'", .unknown,
                .serverCertificateUntrusted
            ),
            ("OpenSSL SSL_connect: Connection reset by peer in connection to a:443", .unknown, .secureConnectionFailed),
            ("TLS connect error: error:0A000126:SSL routines::unexpected eof", .unknown, .secureConnectionFailed),
            ("error:0A00010B:SSL routines::wrong version number", .unknown, .secureConnectionFailed),
            (
                "OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading", .unknown,
                .networkConnectionLost
            ),
            ("OpenSSL SSL_write: Broken pipe, errno 32", .unknown, .networkConnectionLost),
            ("Empty reply from server", .badServerResponse, .networkConnectionLost),
            ("Recv failure: Connection reset by peer", .networkConnectionLost, .networkConnectionLost),
            ("Send failure: Broken pipe", .unknown, .networkConnectionLost),
            ("transfer closed with 98 bytes remaining to read", .unknown, .networkConnectionLost),
            ("Received HTTP/0.9 when not allowed", .unsupportedURL, .badServerResponse),
            ("Unsupported response code in HTTP response", .unsupportedURL, .badServerResponse),
            ("Header without colon", .unknown, .badServerResponse),
            ("Error while processing content unencoding: incorrect header check", .unknown, .cannotDecodeContentData),
            ("something new", .unknown, .unknown),
            ("", .timedOut, .timedOut),
        ] as [(String, URLError.Code, URLError.Code)]
    )
    func words(text: String, reported: URLError.Code, expected: URLError.Code) {
        #expect(LibcurlMessage(text).code(reportedAs: reported) == expected)
    }

    @Test(
        "'cannot connect' is only believed when the words say so: another address may have refused before",
        arguments: ["Empty reply from server", "Recv failure: Connection reset by peer", "something new", ""]
    )
    func staleRefusal(text: String) {
        let code = LibcurlMessage(text).code(reportedAs: .cannotConnectToHost)
        #expect(code == .networkConnectionLost)
        #expect(code.delivery == .maybeExecuted)
    }

    @Test("A4: exactly the failures before a connection is secured are not sent")
    func notSent() {
        let codes = (-4000...0).compactMap { URLError.Code(rawValue: $0) }
        let notSent = codes.filter { $0.delivery == .notSent }.map(\.rawValue)
        let expected = [
            -1000, -1002, -1003, -1004, -1006, -1009, -1018, -1019, -1020, -1022, -1200, -1201, -1202, -1203, -1204,
            -1205, -1206,
        ]
        #expect(Set(notSent) == Set(expected))
    }

    @Test("an error that is not URL loading's is unknown, and maybe executed")
    func foreign() {
        #expect(TransportError(CocoaError(.fileNoSuchFile)) == TransportError(.unknown))
        #expect(URLError.Code.unknown.delivery == .maybeExecuted)
    }
}
