import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("HttpOrigin")
struct HttpOriginTests {
    @Test(
        "an origin is scheme, host and port, and reads as a URL",
        arguments: [
            ("https://API.example.com/v1?x", "https://api.example.com"),
            ("https://api.example.com:443", "https://api.example.com"),
            ("http://api.example.com:80/", "http://api.example.com"),
            ("http://api.example.com:443/", "http://api.example.com:443"),
            ("https://user:secret@api.example.com:8443/", "https://api.example.com:8443"),
            ("http://[::1]:8080/", "http://[::1]:8080"),
            ("https://[2001:DB8::1]/", "https://[2001:db8::1]"),
            ("wss://api.example.com:443/chat", "wss://api.example.com"),
            ("ws://api.example.com:443/chat", "ws://api.example.com:443"),
        ]
    )
    func text(url: String, expected: String) throws {
        #expect(HttpOrigin(try .reading(url))?.description == expected)
    }

    @Test("an IPv6 host has no brackets")
    func ipv6() throws {
        #expect(HttpOrigin(try .reading("http://[::1]:8080/"))?.host == "::1")
    }

    @Test(
        "a URL without host, or with a hidden delimiter in it, has no origin",
        arguments: [
            "notes", "/notes", "mailto:me", "https://h%2Fi/", "https://h%40i/", "https://h%3Fi/", "file:///tmp",
        ]
    )
    func none(url: String) throws {
        #expect(HttpOrigin(try .reading(url)) == nil)
    }

    @Test("origins differ by scheme, host and port, and by nothing else")
    func equality() throws {
        let origins = try [
            "https://a.example/x", "https://A.example:443/y?z", "http://a.example", "https://a.example:444",
            "http://a.example:444", "https://b.example",
        ].map { try #require(HttpOrigin(.reading($0))) }
        #expect(origins[0] == origins[1])
        #expect(Set(origins).count == 5)
        // Compared one by one, too: in a set the hashes tell most of them apart.
        for (left, origin) in origins.enumerated() {
            for (right, other) in origins.enumerated() where left != right {
                #expect((origin == other) == (Set([left, right]) == [0, 1]), "\(origin), \(other)")
            }
        }
    }

    @Test("a request knows its origin, also when an interceptor has given it another URL")
    func request() throws {
        var request = HttpRequest(url: try #require(URL(string: "https://api.example.com/v1/notes")))
        #expect(request.origin?.description == "https://api.example.com")
        request.url = try #require(URL(string: "http://other.example.com:8080/"))
        #expect(request.origin?.description == "http://other.example.com:8080")
        request.url = try #require(URL(string: "notes"))
        #expect(request.origin == nil)
    }
}
