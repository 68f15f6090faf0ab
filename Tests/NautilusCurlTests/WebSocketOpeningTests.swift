import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCurl
@testable import NautilusHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The opening handshake of a web socket, without a socket")
struct WebSocketOpeningTests {
    /// The key of RFC 6455 §1.3.
    private static let key = Array("the sample nonce".utf8)

    private static func request(_ url: String, _ header: HttpHeader = [:]) throws -> WebSocketOpeningRequest {
        try WebSocketOpeningRequest(HttpRequest(url: try #require(URL(string: url)), header: header), key: key)
    }

    private static let accepted = [
        "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
    ]

    private static func answer(_ lines: [String], _ rest: String = "") -> [UInt8] {
        Array(((lines + ["", ""]).joined(separator: "\r\n") + rest).utf8)
    }

    private static func probe(_ bytes: [UInt8], by size: Int = .max) throws -> AnswerProbe {
        AnswerProbe(bytes, to: try request("ws://a/", ["Sec-WebSocket-Protocol": "chat, superchat"]), by: size)
    }

    @Test("a web socket's opening request follows RFC 6455 §4.1, with the call's fields")
    func request() throws {
        let request = try Self.request(
            "wss://user:secret@Server.Example.com:443/rooms/a%2Fb?x=1%202#part",
            [
                "Origin": "http://example.com", "Sec-WebSocket-Protocol": "chat, superchat",
            ]
        )
        let lines = [
            "GET /rooms/a%2Fb?x=1%202 HTTP/1.1", "Host: server.example.com", "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13", "Origin: http://example.com",
            "Sec-WebSocket-Protocol: chat, superchat", "User-Agent: Nautilus", "", "",
        ]
        #expect(
            String(decoding: request.bytes, as: UTF8.self).components(separatedBy: "\r\n").sorted() == lines.sorted()
        )
        #expect(request.bytes.starts(with: Array((lines[0] + "\r\n" + lines[1]).utf8)))
        #expect(request.acceptance == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(request.subprotocols == ["chat", "superchat"])
    }

    @Test(
        "a web socket's opening handshake names the host with its port, and the root where there is no path",
        arguments: [
            ("ws://a:81", "GET / HTTP/1.1\r\nHost: a:81\r\n"), ("ws://[::1]:80/", "GET / HTTP/1.1\r\nHost: [::1]\r\n"),
            ("WSS://a?q", "GET /?q HTTP/1.1\r\nHost: a\r\n"),
        ]
    )
    func host(url: String, start: String) throws {
        #expect(String(decoding: try Self.request(url).bytes, as: UTF8.self).hasPrefix(start))
    }

    @Test("a web socket's opening handshake sends several cookies as one line")
    func cookies() throws {
        var header: HttpHeader = ["Cookie": "a=1"]
        header.add("b=2", to: "Cookie")
        let text = String(decoding: try Self.request("ws://a/", header).bytes, as: UTF8.self)
        #expect(text.components(separatedBy: "Cookie: ").count == 2)
        #expect(text.contains("\r\nCookie: a=1; b=2\r\n"))
    }

    @Test("a web socket's opening refuses an unsuitable request, before anything is sent")
    func refused() throws {
        #expect(throws: HttpRequest.Invalid.headerValue(name: "A")) { try Self.request("ws://a/", ["A": "b\u{1}c"]) }
        #expect(throws: HttpRequest.Invalid.headerValue(name: "A")) { try Self.request("ws://a/", ["A": "b\r\nc: d"]) }
        #expect(throws: HttpRequest.Invalid.headerName) { try Self.request("ws://a/", ["A B": "c"]) }
        for (url, code) in [("http://a/", URLError.Code.unsupportedURL), ("ws:///a", .badURL)] {
            let error = #expect(throws: TransportError.self) { try Self.request(url) }
            guard case .failed(code, .notSent, _)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        let url = try #require(URL(string: "ws://a/"))
        #expect(throws: HttpRequest.Invalid.method) {
            try WebSocketOpeningRequest(HttpRequest(method: .post, url: url), key: Self.key)
        }
    }

    @Test(
        "a web socket opens with the right 101, in pieces of any size, and keeps what follows",
        arguments: [1, 7, .max]
    )
    func opened(size: Int) throws {
        let interim = ["HTTP/1.1 100 Continue", "", "HTTP/1.1 103 Early Hints", "Link: x", ""]
        let answer = Self.answer(
            interim + Self.accepted + ["X-Server: shell", "Sec-WebSocket-Protocol: chat"],
            "\u{1}\u{2}"
        )
        let probe = try Self.probe(answer, by: size)
        #expect(probe.header?["X-Server"] == "shell")
        #expect(probe.header?["Link"] == nil)
        #expect(probe.frames == [1, 2])
    }

    @Test("a web socket's opening handshake takes names and tokens in any case, and lists of connection options")
    func tokens() throws {
        let lines = [
            "HTTP/1.1 101 ", "upgrade: WebSocket", "CONNECTION: keep-alive, UPGRADE",
            "sec-websocket-accept:   s3pPLMBiTxaQ9kYGzzhZRbK+xOo=  ",
        ]
        #expect(try Self.probe(Self.answer(lines)).header != nil)
    }

    @Test(
        "a web socket's opening handshake refuses a 101 that does not complete the handshake",
        arguments: [
            (0, "HTTP/1.0 101 Switching Protocols"), (1, "X: y"), (1, "Upgrade: h2c"), (1, "Upgrade: websocket, h2c"),
            (2, "X: y"), (2, "Connection: close"), (3, "X: y"),
            (3, "Sec-WebSocket-Accept: S3PPLMBITXAQ9KYGZZHZRBK+XOO="),
            (3, "Sec-WebSocket-Accept: "), (4, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
            (4, "Sec-WebSocket-Extensions: permessage-deflate"), (4, "Sec-WebSocket-Extensions:"),
            (4, "Sec-WebSocket-Protocol: other"), (4, "Sec-WebSocket-Protocol: Chat"),
            (4, "Sec-WebSocket-Protocol: chat, superchat"),
            (4, "Sec-WebSocket-Protocol: chat\r\nSec-WebSocket-Protocol: superchat"),
        ]
    )
    func incomplete(index: Int, line: String) throws {
        var lines = Self.accepted + [""]
        lines[index] = line
        if index < 4 { lines.removeLast() }
        #expect(try Self.probe(Self.answer(lines)).code == .badServerResponse)
    }

    @Test(
        "a web socket's opening handshake takes another status for an answer, with its body as it is framed",
        arguments: [1, 3, .max]
    )
    func declined(size: Int) throws {
        let bodies: [(lines: [String], text: String, body: String)] = [
            (["Content-Length: 4"], "gone and more", "gone"), (["Content-Length: 0"], "more", ""),
            ([], "until the end", "until t"),
            (["Transfer-Encoding: chunked"], "2;a=b\r\ngo\r\n2\r\nne\r\n0\r\n\r\n", "gone"),
            (["Transfer-Encoding: gzip, Chunked", "Content-Length: 1"], "4\r\ngone\r\n0\r\n\r\n", ""),
            (["Transfer-Encoding: chunked"], "ffffffffffffffff\r\ngone forever", "gone fo"),
            (["Transfer-Encoding: chunked"], "no size\r\n", ""), (["Content-Length: 9"], "gone", "gone"),
        ]
        for (lines, text, body) in bodies {
            let probe = try Self.probe(
                Self.answer(["HTTP/1.1 401 No", "WWW-Authenticate: Bearer"] + lines, text),
                by: size
            )
            #expect(probe.status == 401)
            #expect(probe.header?["WWW-Authenticate"] == "Bearer")
            #expect(probe.body == Array(body.utf8))
        }
        #expect(try Self.probe(Self.answer(["HTTP/1.1 204 None"], "x"), by: size).body == [])
        #expect(try Self.probe(Self.answer(["HTTP/1.0 200 OK"]), by: size).status == 200)
    }

    @Test("calls an answer that breaks off a lost connection, wherever it does")
    func cut() throws {
        let answer = Self.answer(Self.accepted)
        for count in 0..<answer.count {
            let probe = try Self.probe(Array(answer.prefix(count)))
            #expect(probe.code == .networkConnectionLost)
            #expect(probe.delivery == .maybeExecuted)
        }
    }

    @Test("a web socket's opening refuses endless headers, lines and interim answers, and what is no HTTP")
    func endless() throws {
        let line = Array("HTTP/1.1 200 OK\r\nA: ".utf8) + [UInt8](repeating: 65, count: 2000)
        #expect(try Self.probe(line).code == .badServerResponse)
        let field = Array("A: b\r\n".utf8)
        #expect(
            try Self.probe(Array("HTTP/1.1 200 OK\r\n".utf8) + (0..<400).flatMap { _ in field }).code
                == .badServerResponse
        )
        let interim = Array("HTTP/1.1 102 W\r\n\r\n".utf8)
        #expect(try Self.probe((0..<33).flatMap { _ in interim }).code == .badServerResponse)
        #expect(try Self.probe(Array("220 mail ready\r\n\r\n".utf8)).code == .badServerResponse)
        #expect(try Self.probe(Array("HTTP/1.1 101 Switching Protocols\r\nA\r\n\r\n".utf8)).code == .badServerResponse)
    }

    #if os(Linux)
        @Test(
            "F3: a refusal keeps its status, and its body is decoded as far as it can be",
            .enabled(if: ContentDecoder.undoesGzip, "zlib cannot be loaded here"),
            arguments: [("plain", "plain"), ("gzip", "hello"), ("cut", "")]
        )
        func codedRefusal(kind: String, text: String) throws {
            let gzip: [UInt8] = [
                0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x86, 0xA6, 0x10,
                0x36, 0x05, 0, 0, 0,
            ]
            let body = kind == "plain" ? Array("plain".utf8) : kind == "cut" ? Array(gzip.prefix(9)) : gzip
            let request = try Self.request("ws://a/")
            var answer = WebSocketOpeningAnswer(to: request, headerLimit: 1000, bodyLimit: 100)
            let head = Self.answer(["HTTP/1.1 401 Unauthorized", "Content-Encoding: gzip"])
            _ = try (head + body).withUnsafeBytes { try answer.take($0) }
            guard case .declined(let response) = try answer.end() else {
                Issue.record("the refusal was not taken for one")
                return
            }
            #expect(response.status == 401)
            #expect(String(decoding: response.body, as: UTF8.self) == text)
        }
    #endif
}

/// A client's reading of an answer; it takes 1000 bytes of the header and 7 of the body.
struct AnswerProbe: Hashable {
    var status: Int?
    var header: HttpHeader?
    var frames: [UInt8]?
    var body: [UInt8]?
    var code: URLError.Code?
    var delivery: Delivery?

    init(_ bytes: [UInt8], to request: WebSocketOpeningRequest, by size: Int = .max) {
        var answer = WebSocketOpeningAnswer(to: request, headerLimit: 1000, bodyLimit: 7)
        do throws(TransportError) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = Array(rest.prefix(size))
                rest = rest.dropFirst(part.count)
                let outcome = part.withUnsafeBytes { part in
                    Result { () throws(TransportError) in try answer.take(part) }
                }
                guard let outcome = try outcome.get() else { continue }
                note(outcome, Array(rest))
                return
            }
            note(try answer.end(), [])
        } catch {
            if case .failed(let code, let delivery, _) = error { (self.code, self.delivery) = (code, delivery) }
        }
    }

    private mutating func note(_ outcome: WebSocketOpeningAnswer.Outcome, _ rest: [UInt8]) {
        switch outcome {
        case .opened(let header, let frames): (self.header, self.frames) = (header, Array(frames) + rest)
        case .declined(let response):
            (status, header, body) = (response.status, response.header, Array(response.body))
        }
    }
}
