import Foundation
import Testing

@testable import Nautilus
@testable import NautilusCurl
@testable import NautilusHTTP

@Suite("Response headers from libcurl")
struct CurlResponseHeadTests {
    /// Hands `lines` over, each with its end.
    private func head(_ lines: [String], limit: Int = 1000) throws -> CurlResponseHead {
        var head = CurlResponseHead(limit: limit)
        for line in lines {
            _ = try Array((line + "\r\n").utf8).withUnsafeBytes { try head.take($0) }
        }
        return head
    }

    @Test("a response header from libcurl is complete with the empty line, and not before")
    func complete() throws {
        #expect(try !head(["HTTP/1.1 200 OK", "A: b"]).isComplete)
        #expect(try head(["HTTP/1.1 200 OK", "A: b", ""]).isComplete)
        #expect(try head(["HTTP/1.1 204", ""]).status == 204)
    }

    @Test("a response header from libcurl keeps the order of the fields, the case of their names, and every Set-Cookie")
    func fields() throws {
        let header = try head(["HTTP/1.1 200 OK", "b: 1", "Set-Cookie: a=1", "A:2", "set-cookie:  b=2 ", "C:", ""])
            .header
        #expect(header.fields.map(\.name.rawValue) == ["b", "Set-Cookie", "A", "set-cookie", "C"])
        #expect(header.fields.map(\.value) == ["1", "a=1", "2", "b=2", ""])
    }

    @Test("a response header from libcurl joins a field that goes on, and reads what is no UTF-8 as Latin-1")
    func texts() throws {
        #expect(try head(["HTTP/1.1 200 OK", "A: b", "\t c", ""]).header["A"] == "b c")
        var head = CurlResponseHead(limit: 1000)
        for line in [Array("HTTP/1.1 200 OK\r\n".utf8), Array("A: caf".utf8) + [0xE9, 0x0D, 0x0A], [0x0D, 0x0A]] {
            _ = try line.withUnsafeBytes { try head.take($0) }
        }
        #expect(head.header["A"] == "café")
    }

    @Test("a response header from libcurl takes nothing over from interim responses, and keeps trailers apart")
    func interims() throws {
        let interim = ["HTTP/1.1 103 Early", "Link: x", "Content-Length: 7", "Content-Encoding: gzip", ""]
        let head = try head(interim + ["HTTP/1.1 200 OK", "A: b", "", "Trailer: x"])
        #expect(head.status == 200)
        #expect(head.header == ["A": "b"])
        #expect(head.trailers == ["Trailer": "x"])
        #expect(head.contentLength == nil)
        #expect(head.codings.isEmpty)
    }

    @Test("a response header from libcurl refuses more interim responses than any server needs")
    func manyInterims() throws {
        let interim = ["HTTP/1.1 102 Wait", ""]
        let most = Array(repeating: interim, count: CurlResponseHead.interimLimit).flatMap { $0 }
        #expect(throws: Never.self) { try head(most) }
        #expect(throws: CurlResponseHead.Refusal.tooLarge) { try head(most + interim) }
    }

    @Test("a response header from libcurl refuses an upgrade that nobody has asked for")
    func upgrade() {
        #expect(throws: CurlResponseHead.Refusal.unrequestedUpgrade) { try head(["HTTP/1.1 101 Switching", ""]) }
    }

    @Test(
        "a response header from libcurl refuses what is no header",
        arguments: ["A", ": b", "A: \0", "A: b\rSet-Cookie: c", "Content-Length: -1", "Content-Length: 1, 2"]
    )
    func malformed(line: String) {
        #expect(throws: CurlResponseHead.Refusal.malformed) { try head(["HTTP/1.1 200 OK", line, ""]) }
    }

    @Test(
        "a response header from libcurl believes no length beside a transfer coding, which frames the body",
        arguments: [false, true]
    )
    func codedLength(isFirst: Bool) throws {
        let lines = ["Transfer-Encoding: chunked", "Content-Length: 3"]
        let head = try head(["HTTP/1.1 200 OK"] + (isFirst ? lines : lines.reversed()) + [""])
        #expect(head.contentLength == nil)
    }

    @Test(
        "a response header from libcurl refuses what is no status line",
        arguments: ["HTTP/1.1", "HTTP/1.1 99", "HTTP/1.1 1000", "ICY 200", " "]
    )
    func malformedStatus(line: String) {
        #expect(throws: CurlResponseHead.Refusal.malformed) { try head([line]) }
    }

    @Test("a response header from libcurl is limited in size, its end and trailers included")
    func limit() throws {
        let lines = ["HTTP/1.1 200 OK", "A: b", "", "C: d"]
        let size = lines.map { $0.utf8.count + 2 }.reduce(0, +)
        #expect(throws: Never.self) { try head(lines, limit: size) }
        #expect(throws: CurlResponseHead.Refusal.tooLarge) { try head(lines, limit: size - 1) }
    }

    @Test(
        "a response header from libcurl takes a length in, and the same length twice; one of 2⁶³ is none",
        arguments: [
            ("5", 5), ("5, 5", 5), ("5\r\nContent-Length:5", 5), ("9223372036854775807", Int64.max),
            ("9223372036854775808", nil), ("", nil), ("5,", nil), ("+5", nil), ("5 5", nil),
        ] as [(String, Int64?)]
    )
    func length(value: String, length: Int64?) throws {
        let lines = ["HTTP/1.1 200 OK"] + "Content-Length: \(value)".components(separatedBy: "\r\n") + [""]
        guard let length else {
            #expect(throws: CurlResponseHead.Refusal.malformed) { try head(lines) }
            return
        }
        #expect(try head(lines).contentLength == length)
    }

    @Test("a response header from libcurl names the codings, the last applied first")
    func codings() throws {
        let lines = ["HTTP/1.1 200 OK", "Content-Encoding: deflate, identity", "content-encoding: GZIP", ""]
        #expect(try head(lines).codings == ["gzip", "deflate"])
    }

    @Test("a response header from libcurl announces a body but for HEAD, 204 and 304")
    func body() throws {
        let (found, none) = (try head(["HTTP/1.1 200 OK", ""]), try head(["HTTP/1.1 304 Same", ""]))
        #expect(found.hasBody(inAnswerTo: .get))
        #expect(!found.hasBody(inAnswerTo: .head))
        #expect(!none.hasBody(inAnswerTo: .get))
    }
}
