import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("BaseUrl")
struct BaseUrlTests {
    @Test(
        "a base with or without scheme, port and path leads to one URL",
        arguments: [
            ("api.example.com", "https://api.example.com/notes"),
            ("api.example.com/", "https://api.example.com/notes"),
            ("api.example.com/v1", "https://api.example.com/v1/notes"),
            ("api.example.com/v1/", "https://api.example.com/v1/notes"),
            ("api.example.com/v1//", "https://api.example.com/v1/notes"),
            ("localhost:8080/v1", "https://localhost:8080/v1/notes"),
            ("localhost:080", "https://localhost:80/notes"),
            ("http://localhost:8080", "http://localhost:8080/notes"),
            ("HTTPS://API.Example.com", "https://api.example.com/notes"),
            ("[::1]:8080", "https://[::1]:8080/notes"),
            ("http://[2001:DB8::1]/v1", "http://[2001:db8::1]/v1/notes"),
            ("[::ffff:127.0.0.1]", "https://[::ffff:127.0.0.1]/notes"),
            ("[fe80::1%25en0]:81", "https://[fe80::1%25en0]:81/notes"),
            ("api.example.com?key=1", "https://api.example.com/notes?key=1"),
            ("api.example.com?next=http://x", "https://api.example.com/notes?next=http://x"),
            ("api.example.com/a:b@c", "https://api.example.com/a:b@c/notes"),
            ("api.example.com/%C3%BC/ü", "https://api.example.com/%C3%BC/%C3%BC/notes"),
            ("api.example.com/a|b", "https://api.example.com/a%7Cb/notes"),
            ("api.example.com/\u{301}", "https://api.example.com/%CC%81/notes"),
        ]
    )
    func accepted(base: String, expected: String) throws {
        #expect(try BaseUrl(base, isSecure: true).appending(["notes"], query: [:]).absoluteString == expected)
    }

    @Test("a missing scheme is the service's choice, a scheme that is there wins")
    func scheme() throws {
        #expect(try BaseUrl("h.example", isSecure: false).appending([], query: [:]).scheme == "http")
        #expect(try BaseUrl("h.example", isSecure: true).appending([], query: [:]).scheme == "https")
        #expect(try BaseUrl("https://h.example", isSecure: false).appending([], query: [:]).scheme == "https")
        #expect(try BaseUrl("http://h.example", isSecure: true).appending([], query: [:]).scheme == "http")
    }

    @Test("a URL is read like its text")
    func url() throws {
        let base: URL = try .reading("http://localhost:8080/v1")
        let appended = try BaseUrl(base, isSecure: true).appending(["notes"], query: [:])
        #expect(appended.absoluteString == "http://localhost:8080/v1/notes")
    }

    @Test(
        "without a route the base stays as it was written",
        arguments: [
            "https://h.example", "https://h.example/", "https://h.example/graphql", "https://h.example/graphql/",
        ]
    )
    func noRoute(base: String) throws {
        #expect(try BaseUrl(base, isSecure: true).appending([], query: [:]).absoluteString == base)
    }

    private static let refusals: [(bases: [String], reason: String)] = [
        (
            ["ftp://h", "file:///tmp", "://h", "ws://h", "localhost://x", "httpſ://h"],
            "only http and https are supported"
        ),
        (
            ["a b", "h\n", "h\r\nX: y", "h\u{0}", "h\t", "h\u{7F}", #"h\@evil.example"#],
            "it contains a space, a control character or a backslash"
        ),
        (["h#f", "h/#", "h/x#\u{301}"], "a fragment is never sent"),
        (["", "/", "/v1", "?a", "https://", "http:///v1", "//h"], "it names no host"),
        (
            ["user@h", "https://user:secret@h", "@h", "h@", "mailto:me@h", "h@\u{301}x"],
            "credentials do not belong in a URL; put them into the header"
        ),
        (
            [
                ":80", "::1", "[::1", "::1]", "[]", "[zz]", "[:]", "[::1%en0]", "[::1]x", "x[::1]", "a..b", ".h", "h,i",
                "h;i",
                "h%2Fi", "ex%61mple.com", "h<i>", "h\"", "h!", "*.example.com",
            ],
            "its host is malformed"
        ),
        (
            [
                "h:", "h:/x", "https:0", "h:0", "h:65536", "h:99999", "h:-1", "h:+80", "h:8a", "h:1:2",
                "h:18446744073709551617", "h:000080", "[::1]:", "[::1]:x",
            ],
            "its port is not a number from 1 to 65535"
        ),
        (
            ["bücher.example", "h\u{2028}", "h:٨٠", "раураl.example"],
            "its host is not ASCII; write an international name as xn--…"
        ),
        (["h/%", "h/%2", "h/%zz", "h/%2g", "h?%", "h/%%20"], "a percent sign in it does not begin an encoded byte"),
    ]

    @Test(
        "a base that cannot be used is refused with its reason, and the reason does not repeat it",
        arguments: refusals.flatMap { refusal in refusal.bases.map { ($0, refusal.reason) } }
    )
    func refused(base: String, reason: String) {
        #expect(throws: HttpRequest.Invalid.baseUrl(reason: reason)) { try BaseUrl(base, isSecure: true) }
    }

    @Test(
        "F13: a base URL whose scheme lacks a slash or its colon is refused with that reason",
        arguments: [
            ("https:/api.example.com", "a slash is missing after its scheme; write https://"),
            ("HTTP:/api.example.com/v1", "a slash is missing after its scheme; write http://"),
            ("http:/", "a slash is missing after its scheme; write http://"),
            ("wss:/api.example.com", "a slash is missing after its scheme; write wss://"),
            ("https:api.example.com", "two slashes are missing after its scheme; write https://"),
            ("https:user@h/", "two slashes are missing after its scheme; write https://"),
            ("http:", "two slashes are missing after its scheme; write http://"),
            ("https//api.example.com", "a colon is missing after its scheme; write https://"),
        ]
    )
    func slashes(base: String, reason: String) throws {
        for isSecure in [true, false] {
            #expect(throws: HttpRequest.Invalid.baseUrl(reason: reason)) { try BaseUrl(base, isSecure: isSecure) }
            let url = try URL.reading(base)
            #expect(throws: HttpRequest.Invalid.baseUrl(reason: reason)) { try BaseUrl(url, isSecure: isSecure) }
        }
    }

    @Test(
        "F13: a host that is called like a scheme is still a host",
        arguments: ["https:8080", "http", "http/a", "https?a"]
    )
    func schemeLikeHosts(base: String) throws {
        #expect(throws: Never.self) { try BaseUrl(base, isSecure: true) }
    }

    @Test("base and request share one query")
    func query() throws {
        let base = try BaseUrl("h.example/v1?key=a%20b&f[]=1", isSecure: true)
        #expect(
            try base.appending(["x"], query: ["q": "ü &"]).absoluteString
                == "https://h.example/v1/x?key=a%20b&f%5B%5D=1&q=%C3%BC%20%26"
        )
        #expect(
            try base.appending([], query: [:]).absoluteString == "https://h.example/v1?key=a%20b&f%5B%5D=1"
        )
        #expect(
            try BaseUrl("h.example?", isSecure: true).appending([], query: ["a": nil as Int?]).absoluteString
                == "https://h.example"
        )
    }
}
