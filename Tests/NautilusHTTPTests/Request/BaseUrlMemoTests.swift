import Foundation
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("BaseUrlMemo")
struct BaseUrlMemoTests {
    let memo = BaseUrlMemo()

    @Test("a base is checked once, and the second time it is the same")
    func remembers() throws {
        let first = try memo.base("api.example.com/v1", isSecure: true)
        let second = try memo.base("api.example.com/v1", isSecure: true)
        #expect(try first.url == second.url)
        #expect(memo.count == 1)
    }

    @Test("the same base URL with and without TLS is remembered as two")
    func security() throws {
        #expect(try memo.base("api.example.com", isSecure: true).origin.scheme == "https")
        #expect(try memo.base("api.example.com", isSecure: false).origin.scheme == "http")
        #expect(memo.count == 2)
    }

    @Test("texts that Unicode calls equivalent stay two bases, as they are on the wire")
    func bytes() throws {
        let composed = try memo.base("api.example.com/caf\u{E9}", isSecure: true)
        let decomposed = try memo.base("api.example.com/cafe\u{301}", isSecure: true)
        #expect(try composed.url == "https://api.example.com/caf%C3%A9")
        #expect(try decomposed.url == "https://api.example.com/cafe%CC%81")
        // The same for equal lengths: two marks, in one order and in the other.
        let below = try memo.base("api.example.com/a\u{323}\u{307}", isSecure: true)
        let above = try memo.base("api.example.com/a\u{307}\u{323}", isSecure: true)
        #expect(try below.url == "https://api.example.com/a%CC%A3%CC%87")
        #expect(try above.url == "https://api.example.com/a%CC%87%CC%A3")
    }

    @Test("an invalid base URL is refused every time, and not remembered")
    func failures() {
        for _ in 1...2 {
            #expect(throws: HttpRequest.Invalid.self) { try memo.base("ftp://api.example.com", isSecure: true) }
        }
        #expect(memo.count == 0)
    }

    @Test("bases made anew for every call do not fill the memory")
    func limit() throws {
        for number in 1...(10 * BaseUrlMemo.limit) { _ = try memo.base("api\(number).example.com", isSecure: true) }
        #expect(memo.count <= BaseUrlMemo.limit)
        #expect(try memo.base("api1.example.com", isSecure: true).origin.host == "api1.example.com")
    }
}

extension BaseUrl {
    fileprivate var url: String {
        get throws { try appending([], query: [:]).absoluteString }
    }
}
