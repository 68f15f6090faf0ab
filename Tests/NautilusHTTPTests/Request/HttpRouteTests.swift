import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("HttpRoute")
struct HttpRouteTests {
    @Test(
        "a component is data, never a path of its own",
        arguments: [
            ("notes", "/notes"),
            ("a b", "/a%20b"),
            ("a/b", "/a%2Fb"),
            ("/", "/%2F"),
            ("../admin", "/..%2Fadmin"),
            ("...", "/..."),
            (".well-known", "/.well-known"),
            ("%", "/%25"),
            ("%2e%2e", "/%252e%252e"),
            ("a?b=c", "/a%3Fb%3Dc"),
            ("a#b", "/a%23b"),
            ("a\\b", "/a%5Cb"),
            ("a\r\nb", "/a%0D%0Ab"),
            ("\u{0}", "/%00"),
            ("a+b&c=d;e", "/a%2Bb%26c%3Dd%3Be"),
            ("ü", "/%C3%BC"),
            ("u\u{308}", "/u%CC%88"),
            ("🐚", "/%F0%9F%90%9A"),
            ("/\u{301}", "/%2F%CC%81"),
            ("AZaz09-._~", "/AZaz09-._~"),
            (" ", "/%20"),
        ]
    )
    func encoding(component: String, expected: String) throws {
        #expect(try HttpRoute([component]).encoded() == expected)
    }

    @Test("anything that describes itself is a component")
    func literal() throws {
        let id = UUID()
        let route: HttpRoute = ["users", id, "notes", 7, Substring("x"), true, -1.5]
        #expect(route.components == ["users", id.description, "notes", "7", "x", "true", "-1.5"])
        #expect(try route.encoded() == "/users/\(id)/notes/7/x/true/-1.5")
    }

    @Test("an empty component is refused with its place", arguments: [0, 1, 2])
    func empty(index: Int) {
        var components = ["a", "b", "c"]
        components[index] = ""
        #expect(throws: HttpRequest.Invalid.emptyRouteComponent(index: index)) { try HttpRoute(components).encoded() }
    }

    @Test("a component that is a step within the path is refused with its place", arguments: [".", ".."])
    func dots(component: String) {
        #expect(throws: HttpRequest.Invalid.dotRouteComponent(index: 1)) { try HttpRoute(["a", component]).encoded() }
    }

    @Test("a trailing slash is asked for, never made by accident")
    func trailingSlash() throws {
        #expect(try HttpRoute(["a"], trailingSlash: true).encoded() == "/a/")
        #expect(try HttpRoute([], trailingSlash: true).encoded() == "/")
        #expect(try HttpRoute().encoded() == "")
        #expect(try HttpRoute(["a/"]).encoded() == "/a%2F")
    }

    @Test("10 000 random routes come out of the URL as they went in")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 1)
        let base = try BaseUrl("api.example.com/v1", isSecure: true)
        for _ in 1...10_000 {
            let texts = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                String.random(length: 1...6, using: &generator)
            }
            let components = texts.filter { $0 != "." && $0 != ".." }
            let url = try base.appending(HttpRoute(components), query: [:])
            let segments = url.path(percentEncoded: true).split(separator: "/", omittingEmptySubsequences: false)
            try #require(segments.dropFirst(2).map { $0.removingPercentEncoding } == components)
            // Foundation decodes before it splits, and so takes an encoded slash for one of the path.
            if !components.contains(where: { $0.utf8.contains(UInt8(ascii: "/")) }) {
                try #require(Array(url.pathComponents.dropFirst(2)) == components)
            }
            try #require(url.query == nil && url.fragment == nil && url.host == "api.example.com")
        }
    }

    @Test("10 000 random queries come out of the URL as they went in")
    func query() throws {
        var generator = SeededGenerator(seed: 2)
        let base = try BaseUrl("api.example.com", isSecure: true)
        for _ in 1...10_000 {
            let (name, value) = (
                String.random(length: 1...6, using: &generator), String.random(length: 0...6, using: &generator)
            )
            var query: HttpQuery = ["a": "b"]
            query.add(value, to: name)
            let url = try base.appending(["x"], query: query)
            let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems
            try #require(items == [URLQueryItem(name: "a", value: "b"), URLQueryItem(name: name, value: value)])
        }
    }
}

extension String {
    /// Any scalars, delimiters more often than chance has them.
    fileprivate static func random(length: ClosedRange<Int>, using generator: inout SeededGenerator) -> String {
        let delimiters = Array("/.%?#&=+;: \\\r\n\u{0}@[]~".unicodeScalars)
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: length, using: &generator) {
            if Bool.random(using: &generator), let delimiter = delimiters.randomElement(using: &generator) {
                text.append(delimiter)
            } else if let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &generator)) {
                text.append(scalar)
            } else {
                text.append("a")  // a surrogate was drawn
            }
        }
        return String(text)
    }
}
