import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("HttpHeader")
struct HttpHeaderTests {
    @Test("header names are compared without case, and sent as they were written")
    func names() {
        let header: HttpHeader = ["cOnTeNt-TyPe": "text/plain"]
        #expect(header[.contentType] == "text/plain")
        #expect(header.fields.map(\.name.rawValue) == ["cOnTeNt-TyPe"])
        #expect(HttpHeader.Name("ETAG") == "etag")
        #expect(HttpHeader.Name("ETAG").hashValue == HttpHeader.Name("etag").hashValue)
        #expect(HttpHeader.Name("ETAG") != "etags")
    }

    @Test(
        "only letters of a header name have a case",
        arguments: [("@", "`"), ("[", "{"), ("^", "~"), ("Ü", "ü"), ("K", "\u{212A}")]
    )
    func nearlyLetters(left: String, right: String) {
        #expect(HttpHeader.Name(left) != HttpHeader.Name(right))
    }

    @Test("fields keep their order, and a name may come again")
    func order() {
        var header: HttpHeader = ["B": "1", "A": "2", "b": "3"]
        header.add("4", to: "B")
        #expect(header.fields.map(\.value) == ["1", "2", "3", "4"])
        #expect(header.values(of: "b") == ["1", "3", "4"])
        #expect(header["B"] == "1, 3, 4")
        #expect(header["a"] == "2")
        #expect(header["c"] == nil)
        #expect(header.values(of: "c").isEmpty)
    }

    @Test("setting replaces every value, in the place of the first")
    func setting() {
        var header: HttpHeader = ["A": "1", "B": "2", "a": "3", "C": "4"]
        header["a"] = "5"
        #expect(header.fields.map(\.description) == ["a: 5", "B: 2", "C: 4"])
        header["C"] = "6"
        #expect(header.fields.map(\.description) == ["a: 5", "B: 2", "C: 6"])
        header["D"] = "7"
        #expect(header.fields.map(\.description) == ["a: 5", "B: 2", "C: 6", "D: 7"])
        header["b"] = nil
        header["none"] = nil
        #expect(header.fields.map(\.description) == ["a: 5", "C: 6", "D: 7"])
    }

    @Test("merging takes all values of the other, in place of one's own")
    func merging() {
        let base: HttpHeader = ["A": "1", "B": "2", "a": "3"]
        let other: HttpHeader = ["a": "4", "A": "5", "C": "6"]
        #expect(base.merging(other).fields.map(\.description) == ["B: 2", "a: 4", "A: 5", "C: 6"])
        #expect(base.merging([:]) == base)
        #expect(HttpHeader().merging(other) == other)
    }

    @Test("merging thousands of header fields takes their values in place of one's own", arguments: [16, 17, 5_000])
    func mergingMany(count: Int) {
        let fields = { (value: String) in (0..<count).map { HttpHeader.Field(name: .init("X-\($0)"), value: value) } }
        let base = HttpHeader([.init(name: "A", value: "1")] + fields("old") + [.init(name: "B", value: "2")])
        let other = HttpHeader(fields("new") + [.init(name: "x-0", value: "new, too")])
        let merged = base.merging(other)
        #expect(merged.fields.map(\.description).prefix(2) == ["A: 1", "B: 2"])
        #expect(merged.fields.dropFirst(2).elementsEqual(other.fields))
    }

    @Test("equality ignores the case of names, but not the case of values and the order")
    func equality() {
        #expect(["A": "1"] as HttpHeader == ["a": "1"])
        #expect(["A": "x"] as HttpHeader != ["A": "X"])
        #expect(["A": "1", "B": "2"] as HttpHeader != ["B": "2", "A": "1"])
    }

    @Test(
        "header names of credentials are sensitive, however they are written",
        arguments: [
            "Authorization", "AUTHORIZATION", "Proxy-Authorization", "WWW-Authenticate", "Cookie", "Set-Cookie",
            "X-Api-Key", "apikey", "X-Auth-Token", "X-CSRF-Token", "X-XSRF", "X-Amz-Security-Token", "X-Session-Id",
            "X-Signature", "Client-Secret", "X-Password", "X-Passwd", "X-Passphrase", "X-JWT", "X-Bearer",
            "X-GitHub-OTP", "My-Credential", "Idempotency-Key-2",
        ]
    )
    func sensitive(name: String) {
        #expect(HttpHeader.Name(name).isSensitive)
    }

    @Test(
        "other header names are not sensitive",
        arguments: [
            "Accept", "Content-Type", "Date", "Retry-After", "User-Agent", "Location", "ETag", "Idempotency-Key",
            "idempotency-KEY", "X-Request-Id", "", "k", "to", "X-Protocol",
        ]
    )
    func harmless(name: String) {
        #expect(!HttpHeader.Name(name).isSensitive)
    }

    @Test("a header without its sensitive fields keeps the others in order")
    func withoutSensitiveFields() {
        let header: HttpHeader = ["A": "1", "Authorization": "x", "B": "2", "cookie": "y", "Idempotency-Key": "z"]
        #expect(header.withoutSensitiveFields == ["A": "1", "B": "2", "Idempotency-Key": "z"])
    }

    @Test(
        "a value that may be a URL is printed without what a URL hides",
        arguments: [
            ("https://a.example/cb?code=secret", "https://a.example/cb?…"),
            ("/cb#access_token=secret", "/cb#…"),
            ("https://user:secret@a.example/x", "‹redacted›"),
            ("<https://a.example/n?cursor=secret>; rel=next", "<https://a.example/n?…"),
            ("https://a.example/x", "https://a.example/x"),
            ("https://a.example/x/@me", "https://a.example/x/@me"),
            ("Notes/1.0 (me@a.example)", "Notes/1.0 (me@a.example)"),
            ("text/html;q=0.9, */*", "text/html;q=0.9, */*"),
        ]
    )
    func urls(value: String, printed: String) {
        #expect(HttpHeader.Field(name: "Location", value: value).description == "Location: \(printed)")
    }
}
