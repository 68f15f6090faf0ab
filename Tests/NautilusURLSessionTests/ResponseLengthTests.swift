import Foundation
import Testing

@testable import NautilusHTTP
@testable import NautilusURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The framing of a response's body")
struct ResponseLengthTests {
    @Test(
        "a response to HEAD, a 204 and a 304 have no length; others have the announced one, unless encoded",
        arguments: [
            ("GET", 200, ["Content-Length": "1000"], 1000),
            (nil, 200, ["Content-Length": "1000"], 1000),
            ("GET", 404, ["Content-Length": "0"], 0),
            ("GET", 200, [:], nil),
            ("GET", 200, ["Content-Length": "1000", "Content-Encoding": "gzip"], nil),
            ("GET", 200, ["Content-Length": "1000", "Content-Encoding": "Identity"], 1000),
            ("HEAD", 200, ["Content-Length": "1000"], 0),
            ("HEAD", 200, [:], 0),
            ("GET", 304, ["Content-Length": "1000"], 0),
            ("GET", 304, ["Content-Length": "1000", "Content-Encoding": "gzip"], 0),
            ("GET", 204, [:], 0),
            ("GET", 205, ["Content-Length": "1000"], 1000),
        ] as [(String?, Int, [String: String], Int64?)]
    )
    func lengths(method: String?, status: Int, header: [String: String], length: Int64?) throws {
        let url = try #require(URL(string: "http://a.com"))
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: header)
        #expect(try #require(response).streamedLength(to: method) == length)
    }
}
