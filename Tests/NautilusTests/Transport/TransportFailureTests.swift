import Foundation
import Testing

@testable import Nautilus

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("What Foundation reports becomes a code and a delivery")
struct TransportFailureTests {
    @Test(
        "libcurl's words decide where Foundation's code says less",
        arguments: [
            ("Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server", -1004, -1004),
            ("Failed to connect to a.example port 80 after 2 ms: Network is unreachable", -1, -1004),
            ("Could not resolve host: a.invalid", -1003, -1003),
            ("Could not resolve proxy: a.invalid", -1, -1003),
            ("SSL certificate problem: self-signed certificate", -1, -1202),
            ("SSL certificate problem: certificate has expired", -1, -1201),
            ("SSL certificate problem: certificate is not yet valid", -1, -1204),
            ("SSL: no alternative certificate subject name matches target host name 'a'", -1, -1202),
            ("OpenSSL SSL_connect: Connection reset by peer in connection to a:443", -1, -1200),
            ("TLS connect error: error:0A000126:SSL routines::unexpected eof", -1, -1200),
            ("error:0A00010B:SSL routines::wrong version number", -1, -1200),
            ("OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading", -1, -1005),
            ("OpenSSL SSL_write: Broken pipe, errno 32", -1, -1005),
            ("Empty reply from server", -1011, -1005),
            ("Recv failure: Connection reset by peer", -1005, -1005),
            ("Send failure: Broken pipe", -1, -1005),
            ("transfer closed with 98 bytes remaining to read", -1, -1005),
            ("Received HTTP/0.9 when not allowed", -1002, -1011),
            ("Unsupported response code in HTTP response", -1002, -1011),
            ("Header without colon", -1, -1011),
            ("Error while processing content unencoding: incorrect header check", -1, -1016),
            ("something new", -1, -1),
            ("", -1001, -1001),
        ]
    )
    func words(text: String, reported: Int, expected: Int) {
        let code = LibcurlMessage(text).code(reportedAs: URLError.Code(rawValue: reported))
        #expect(code.rawValue == expected)
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
        let codes = (-4000...0).map { URLError.Code(rawValue: $0) }
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
