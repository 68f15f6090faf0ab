import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("A request as a command of curl")
struct CurlCommandTests {
    /// The words behind those that every command here begins with: method, User-Agent and Accept.
    private static func words(
        _ body: HttpBody.Payload = .empty,
        method: HttpMethod = .post,
        header: HttpHeader = ["Content-Type": "text/plain"],
        url: String = "https://a.example/b",
        showsSecrets: Bool = true
    ) throws -> String {
        var all: HttpHeader = ["User-Agent": "test", "Accept": "*/*"]
        all.merge(header)
        let request = HttpRequest(method: method, url: try .reading(url), header: all, body: body)
        return request.curlCommand(showsSecrets: showsSecrets)
            .replacingOccurrences(of: "--header 'User-Agent: test' --header 'Accept: */*' ", with: "")
            .replacingOccurrences(of: "--header 'Content-Type: text/plain' ", with: "")
            .replacingOccurrences(of: " 'https://a.example/b'", with: "")
    }

    @Test(
        "F1: a text is sent by curl as it is, also one that names a file, or ends a quotation",
        arguments: [
            ("@/etc/hostname", "'@/etc/hostname'"), ("it's", #"'it'\''s'"#), ("'\u{301}; id", "''\\''\u{301}; id'"),
            ("$HOME `id` \\ \"!\" %s", "'$HOME `id` \\ \"!\" %s'"), ("a\nb\tc", "'a\nb\tc'"), ("süß 🐚", "'süß 🐚'"),
            ("\u{FEFF}x", "'\u{FEFF}x'"), ("-", "'-'"),
        ]
    )
    func text(_ text: String, quoted: String) throws {
        let words = try Self.words(.data(Data(text.utf8)))
        #expect(Array(words.unicodeScalars) == Array("curl --request POST --data-raw \(quoted)".unicodeScalars))
    }

    @Test(
        "F1: bytes that no argument and no terminal carries reach curl by base64",
        arguments: [
            Data([0]), Data([0xFF, 0xFE]), Data("a\r\nb".utf8), Data("\u{1B}[2J".utf8), Data([0x7F]),
            Data([0xED, 0xA0, 0x80]), Data(repeating: 0x61, count: 100_001),
        ]
    )
    func bytes(_ data: Data) throws {
        let expect = data.count > 1_024 ? "--header 'Expect:' " : ""
        #expect(
            try Self.words(.data(data))
                == "printf %s '\(data.base64EncodedString())' | base64 -d | curl --request POST \(expect)"
                + "--data-binary @-"
        )
    }

    @Test("F1: HEAD is --head, and the other methods are quoted if they are not of letters")
    func methods() throws {
        let expected: [(HttpMethod, String)] = [
            (.head, "curl --head"), (.get, "curl --request GET"), (.delete, "curl --request DELETE"),
            ("get", "curl --request get"), ("a'b`id`|$x", #"curl --request 'a'\''b`id`|$x'"#),
            (.put, "curl --request PUT --data-raw ''"), (.query, "curl --request QUERY --data-raw ''"),
        ]
        for (method, command) in expected { #expect(try Self.words(method: method) == command) }
    }

    @Test("F1: curl adds no field of its own to the request, other than those that CurlTransport adds")
    func defaults() throws {
        let url = try URL.reading("https://a.example/b")
        #expect(
            HttpRequest(url: url).curlCommand()
                == "curl --request GET --user-agent Nautilus 'https://a.example/b'"
        )
        #expect(
            HttpRequest(method: .post, url: url).curlCommand()
                == "curl --request POST --user-agent Nautilus --header 'Content-Type:' "
                + "--data-raw '' 'https://a.example/b'"
        )
        #expect(
            HttpRequest(method: .post, url: url, body: .data(Data("x".utf8))).curlCommand(showsSecrets: true)
                == "curl --request POST --user-agent Nautilus "
                + "--header 'Content-Type: application/octet-stream' --data-raw 'x' 'https://a.example/b'"
        )
        let large = Data(repeating: 0x61, count: 1_025)
        #expect(try Self.words(.data(large)).contains("--header 'Expect:'"))
        #expect(try Self.words(.data(large), showsSecrets: false).contains("--header 'Expect:'"))
    }

    @Test("F1: a field without a value, a repeated one and two cookies are sent as the call sends them")
    func fields() throws {
        var header: HttpHeader = ["X-Empty": "", "X-Blank": " \t", "X-File": "@/etc/hostname", "Cookie": "a=1"]
        header.add("'", to: "x-file")
        header.add("b=2", to: "cookie")
        #expect(
            try Self.words(method: .get, header: header)
                == "curl --request GET --header 'X-Empty;' --header 'X-Blank;' --header 'X-File: @/etc/hostname' "
                + #"--header 'Cookie: a=1; b=2' --header 'x-file: '\'''"#
        )
        #expect(try Self.words(method: .get, header: header, showsSecrets: false).contains("'Cookie: ‹redacted›'"))
    }

    @Test("F1: a URL is sent as it is, without expansions, steps within the path, user and password")
    func targets() throws {
        let expected = [
            ("https://a.example/b/../c", "curl --path-as-is --request GET"),
            ("https://a.example/b/%2E./c", "curl --path-as-is --request GET"),
            ("https://[::1]/b", "curl --globoff --request GET"),
        ]
        for (text, beginning) in expected {
            let url = try #require(URL(string: text))
            let request = HttpRequest(url: url, header: ["Accept": "a", "User-Agent": "b"])
            let command = request.curlCommand(showsSecrets: true)
            #expect(command == beginning + " --header 'Accept: a' --header 'User-Agent: b' '\(url.absoluteString)'")
        }
        let user = HttpRequest(url: try .reading("https://me:secret@a.example/b?c#d")).curlCommand(showsSecrets: true)
        #expect(user.hasSuffix(" 'https://a.example/b?c#d'"))
        #expect(!user.contains("secret"))
    }

    @Test("F1: a request that is refused, and so never sent, is no command that sends one")
    func refused() throws {
        let body = HttpRequest(url: try .reading("https://a.example/b"), body: .data(Data("x".utf8)))
        #expect(
            body.curlCommand(showsSecrets: true)
                == "echo 'This request is not sent: GET does not carry a body; use POST, or put the values into "
                + "the query.' >&2"
        )
        let field = HttpRequest(url: try .reading("https://a.example/b"), header: ["@/etc/hostname": "x"])
        #expect(field.curlCommand(showsSecrets: true).hasPrefix("echo 'This request is not sent: A header name is"))
    }

    @Test("F1: the bytes of a stream that has them in memory are sent, and those of another are described")
    func streams() throws {
        let known = HttpBody.data(Data("x".utf8)).reporting { _ in }
        #expect(try Self.words(known.payload(JSONEncoder.init)) == "curl --request POST --data-raw 'x'")
        let chunks = HttpBodyStream(from: { AsyncStream<Data> { $0.finish() } })
        #expect(
            try Self.words(.stream(chunks))
                == "curl --request POST --header 'Expect:' --data-raw '‹a replayable stream›'"
        )
    }
}
