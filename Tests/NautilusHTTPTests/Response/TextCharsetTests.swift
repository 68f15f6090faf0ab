import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Text results in the charset that they declare")
struct TextCharsetTests {
    private struct Page: Request {
        typealias Result = String
        var route: HttpRoute { ["page"] }
    }

    private struct Title: JsonRequest {
        typealias Result = String
        var route: HttpRoute { ["title"] }
    }

    /// Takes the bytes as they came, whatever is declared.
    private struct Bytes: Request {
        typealias Result = String
        var route: HttpRoute { ["bytes"] }
        func decode(_ data: Data) throws -> String { data.map { String($0, radix: 16) }.joined(separator: " ") }
    }

    private static func service(_ type: String?, _ body: [UInt8], status: Int = 200) -> AnyHttpService<HttpError> {
        var header: HttpHeader = [:]
        header[.contentType] = type
        let transport = ScriptedTransport(.reply(status: status, header: header, body: Data(body)), afterLast: .repeat)
        return AnyHttpService(apiUrl: "a.com", transport: transport)
    }

    private static let cases: [(String?, [UInt8], String)] = [
        (nil, [0xC3, 0xA9], "é"), ("text/plain", [0xC3, 0xA9], "é"), ("nonsense", [0xC3, 0xA9], "é"),
        ("text/plain; charset=utf-8", [0xC3, 0xA9], "é"), ("text/plain; charset=iso-8859-1", [0xE9], "é"),
        ("text/plain; charset=ISO-8859-1", [0x80, 0x93, 0x9F, 0x81], "€“Ÿ\u{81}"),
        ("text/plain; charset=\"Windows-1252\"", [0xE9, 0x20], "é "), ("text/html; charset=us-ascii", [0xE9], "é"),
        ("text/plain; charset=utf-16", [0xE9, 0x00], "é"), ("text/plain; charset=utf-16be", [0x00, 0xE9], "é"),
        ("text/plain; charset=utf-16le", [0x3D, 0xD8, 0x00, 0xDE], "😀"),
        ("text/plain; charset=utf-16", [0xFE, 0xFF, 0x00, 0xE9], "é"),
        ("text/plain; charset=iso-8859-1", [0xEF, 0xBB, 0xBF, 0xC3, 0xA9], "é"),
        ("text/plain; charset=koi8-r", [0xEF, 0xBB, 0xBF, 0xC3, 0xA9], "é"), (nil, [0xEF, 0xBB, 0xBF], ""),
        ("text/plain; charset=koi8-r", [], ""), ("text/plain; charset", [0xC3, 0xA9], "é"),
        ("text/plain; charset='utf-8'", [0xC3, 0xA9], "é"), ("text/plain; charset='latin1'", [0xE9], "é"),
        ("text/plain; charset=\"\"", [0xC3, 0xA9], "é"), ("text/plain; charset=''", [0xC3, 0xA9], "é"),
        ("application/json; charset=iso-8859-1", [0xC3, 0xA9], "é"),
        ("application/problem+json; charset=iso-8859-1", [0xC3, 0xA9], "é"),
        ("text/event-stream; charset=iso-8859-1", [0xC3, 0xA9], "é"),
    ]

    @Test("F7: text is decoded by its declared charset, else as UTF-8, and a byte order mark wins", arguments: cases)
    func texts(type: String?, bytes: [UInt8], expected: String) async throws {
        let service = Self.service(type, bytes)
        #expect(try await Page().schedule(with: service) == expected)
        #expect(try await AnyRequest(.get, ["page"], as: String.self).schedule(with: service) == expected)
        #expect(try await AnyRequest(Page()).schedule(with: service) == expected)
        #expect(try await Page().with { $0.timeout = .seconds(1) }.schedule(with: service) == expected)
        let response = try await AnyRequest(.get, ["page"], as: Data.self).response(with: service)
        #expect(try response.text() == expected)
    }

    @Test("F7: the body of a refusal is decoded in the same way", arguments: cases)
    func refusals(type: String?, bytes: [UInt8], expected: String) async throws {
        let service = Self.service(type, bytes, status: 400)
        let error = await #expect(throws: HttpError.self) { try await Page().schedule(with: service) }
        #expect(error?.responseText == expected)
        #expect(try error?.response?.text() == expected)
    }

    @Test("F7: a charset that is not known is named in the error, without what is no part of a name")
    func unknown() async throws {
        let service = Self.service("text/plain; charset=\"koi8-r \u{7}\"", [0xC1])
        // A control character makes the parameter malformed; what is left is UTF-8.
        let malformed = await #expect(throws: HttpError.self) { try await Page().schedule(with: service) }
        #expect(malformed?.underlying is DecodingError)
        for request in [AnyRequest(Page()), AnyRequest(.get, ["page"], as: String.self)] {
            let error = await #expect(throws: HttpError.self) {
                try await request.schedule(with: Self.service("text/plain; charset=\"koi8-r b\"", [0xC1]))
            }
            #expect(error?.kind == .decoding)
            #expect(error?.underlying as? HttpBodyStream.UnknownCharset == HttpBodyStream.UnknownCharset("koi8-r b"))
            let reason = "the text is in the charset 'koi8-rb', which is not known"
            #expect(error?.description.contains(reason) == true)
        }
        let long = HttpBodyStream.UnknownCharset(String(repeating: "x", count: 1_000_000)).description
        #expect(long.utf8.count < 100)
        let refused = Self.service("text/plain; charset=koi8-r", [0xC1], status: 400)
        let refusal = await #expect(throws: HttpError.self) { try await Page().schedule(with: refused) }
        #expect(refusal?.kind == .status(400))
        #expect(refusal?.responseText == nil)
        #expect(throws: HttpBodyStream.UnknownCharset("koi8-r")) { _ = try refusal?.response?.text() }
    }

    @Test(
        "F7: bytes that are no text in their charset are an error in a result, and repaired in a refusal",
        arguments: [
            ("text/plain", [0x61, 0xE9]), ("text/plain; charset=utf-16", [0x61, 0x00, 0xE9]),
            ("text/plain; charset=utf-16", [0x61, 0x00, 0x00, 0xDE]),
            ("text/plain; charset=utf-16", [0x61, 0x00, 0x3D, 0xD8]),
        ] as [(String, [UInt8])]
    )
    func malformed(type: String, bytes: [UInt8]) async throws {
        let error = await #expect(throws: HttpError.self) { try await Page().schedule(with: Self.service(type, bytes)) }
        #expect(error?.underlying is DecodingError)
        let service = Self.service(type, bytes, status: 500)
        let refusal = await #expect(throws: HttpError.self) { try await Page().schedule(with: service) }
        #expect(refusal?.responseText == "a\u{FFFD}")
    }

    @Test("F7: JSON is read as UTF-8, and a request that decodes the bytes itself gets them as they came")
    func own() async throws {
        let json = Self.service("text/plain; charset=iso-8859-1", Array("\"é\"".utf8))
        #expect(try await Title().schedule(with: json) == "é")
        let text = Self.service("text/plain; charset=utf-16", [0x61, 0x00])
        #expect(try await Bytes().schedule(with: text) == "61 0")
        // What it has entered for one response does not reach the next.
        #expect(JsonCoders.current.charset == .utf8)
    }

    @Test("F7: the text is the same however its bytes are cut")
    func cuts() throws {
        let bytes = Data([0xFF, 0xFE, 0x61, 0x00, 0x3D, 0xD8, 0x00, 0xDE, 0x3D, 0xD8, 0x62, 0x00, 0x63])
        let whole = try bytes.repairedText(in: .utf8)
        #expect(whole == "a😀\u{FFFD}b\u{FFFD}")
        for first in 0...bytes.count {
            for second in first...bytes.count {
                var transcoder = TextTranscoder(.windows1252)
                var text = try transcoder.append(bytes[..<first])
                text += try transcoder.append(bytes[first..<second])
                text += try transcoder.append(bytes[second...])
                text += try transcoder.finish()
                try #require(String(decoding: text, as: UTF8.self) == whole)
                #expect(transcoder.hasMalformed)
            }
        }
    }
}
