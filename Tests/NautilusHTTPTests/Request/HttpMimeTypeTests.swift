import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("HttpMimeType")
struct HttpMimeTypeTests {
    private static let texts: [(String, String?)] = [
        ("image/png", "image/png"),
        ("Text/HTML;Charset=\"utf-8\"", "text/html; charset=utf-8"),
        (" text/plain ; a=b ;c=\"d e\" ", "text/plain; a=b; c=\"d e\""),
        ("text/plain;", "text/plain"),
        ("text/plain;;a=b", "text/plain; a=b"),
        ("a/b; c=\"\\\"\\\\\"", "a/b; c=\"\\\"\\\\\""),
        ("a/b; c=\"\"", "a/b; c=\"\""),
        ("", nil),
        ("text", nil),
        ("text/", nil),
        ("/plain", nil),
        ("text /plain", nil),
        ("text/plain charset", nil),
        ("text/plain\u{1}; a=b", nil),
    ]

    @Test(
        "F12a: a malformed parameter is skipped, and the essence and the other parameters count",
        arguments: [
            ("text/event-stream;charset", "text/event-stream"), ("text/event-stream; charset=", "text/event-stream"),
            ("text/event-stream;x bogus", "text/event-stream"), ("text/event-stream; =x", "text/event-stream"),
            ("text/event-stream; charset = utf-8; a=b", "text/event-stream; a=b"),
            ("text/event-stream; charset=\"utf-8", "text/event-stream; charset=utf-8"),
            ("text/event-stream; charset=\"utf-8\" x; a=b", "text/event-stream; charset=utf-8; a=b"),
            ("text/event-stream; x bogus; charset=utf-8", "text/event-stream; charset=utf-8"),
            ("text/event-stream; a=b c ;d=e", "text/event-stream; a=\"b c\"; d=e"),
            ("text/event-stream; a=\u{1}; d=e", "text/event-stream; d=e"),
            ("text/event-stream; a=b; A=c", "text/event-stream; a=b"),
            ("\r\n text/event-stream\t\n;;; ", "text/event-stream"),
        ]
    )
    func malformed(text: String, printed: String) {
        #expect(HttpMimeType(text)?.description == printed)
    }

    @Test(
        "F12a: of several Content-Type values the last valid one counts, with the charset of its own kind before it",
        arguments: [
            (["text/event-stream", "text/event-stream"], "text/event-stream"),
            (["text/event-stream, text/event-stream"], "text/event-stream"),
            (["text/html", "text/event-stream"], "text/event-stream"),
            (["text/event-stream", "nonsense"], "text/event-stream"), (["nonsense", "*/*", ""], nil), ([], nil),
            (["text/event-stream", "*/*"], "text/event-stream"),
            (["text/plain;charset=gbk", "text/html"], "text/html"),
            (["text/html;charset=gbk;a=b", "text/html;x=y"], "text/html; x=y; charset=gbk"),
            (["text/html;charset=gbk", "text/html;charset=utf-8"], "text/html; charset=utf-8"),
            (["text/html;charset=gbk", "text/plain", "text/html"], "text/html"),
            (["text/html;a=\"x,text/plain\";b=c"], "text/html; a=\"x,text/plain\"; b=c"),
            (["text/html;a=\"\\\",text/plain\""], "text/html; a=\"\\\",text/plain\""),
        ] as [([String], String?)]
    )
    func extracted(lines: [String], printed: String?) {
        let header = HttpHeader(lines.map { .init(name: .contentType, value: $0) })
        #expect(header.mediaType?.description == printed)
    }

    @Test("a media type is read as RFC 9110 and browsers write it, and printed in one way", arguments: texts)
    func reads(text: String, printed: String?) {
        let type = HttpMimeType(text)
        #expect(type?.description == printed)
        if let printed { #expect(HttpMimeType(printed) == type) }
    }

    @Test("the parameters of a media type are found by their name in any case")
    func parameters() {
        let type = HttpMimeType("multipart/form-data; Boundary=aB")
        #expect(type?["BOUNDARY"] == "aB")
        #expect(type?["charset"] == nil)
        #expect(type?.essence == "multipart/form-data")
        #expect(HttpMimeType("Image", "PNG") == .png)
    }

    @Test(
        "a quote stays escaped whatever is combined with it",
        arguments: ["\"\u{301}; d=e", "\\\u{308}", "\"\u{FE0F}"]
    )
    func combined(value: String) throws {
        let type = HttpMimeType("a", "b").with("c", value)
        let scalars = type.description.unicodeScalars
        #expect(scalars.starts(with: "a/b; c=\"\\".unicodeScalars))
        #expect(scalars.elementsEqual("a/b; c=\"\\\(value)\"".unicodeScalars))
        #expect(HttpMimeType(type.description)?.parameters == [.init("c", value)])
    }

    @Test(
        "an extension in any case has its type, an unknown one has none",
        arguments: [
            ("png", HttpMimeType.png), ("JPG", .jpeg), ("heic", .heic), ("mov", .quickTime), ("", nil), ("x", nil),
        ]
    )
    func extensions(name: String, type: HttpMimeType?) {
        #expect(HttpMimeType(fileExtension: name) == type)
    }
}
