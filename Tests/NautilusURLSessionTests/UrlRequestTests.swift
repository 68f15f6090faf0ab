import Foundation
import Testing

@testable import NautilusHTTP
@testable import NautilusURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Requests to Foundation")
struct UrlRequestTests {
    @Test("fields of one name are joined by commas, cookies by semicolons (RFC 6265 §5.4)")
    func joined() throws {
        let url = try #require(URL(string: "https://a.example/"))
        var request = HttpRequest(url: url)
        for (name, value) in [("Accept", "a"), ("accept", "b"), ("Cookie", "c=1"), ("cookie", "d=2")] {
            request.header.add(value, to: .init(name))
        }
        let sent = try URLRequest(request, body: nil)
        #expect(sent.value(forHTTPHeaderField: "Accept") == "a, b")
        #expect(sent.value(forHTTPHeaderField: "Cookie") == "c=1; d=2")
    }

    @Test("name and password of a URL are left out: Foundation would answer a challenge with them")
    func userInfo() throws {
        let url = try #require(URL(string: "https://me:s3cret@a.example/notes?a=1"))
        #expect(try URLRequest(HttpRequest(url: url), body: nil).url?.absoluteString == "https://a.example/notes?a=1")
    }
}
