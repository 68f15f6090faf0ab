import Testing

@testable import Nautilus

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
        ("text/plain; charset", nil),
        ("text/plain; charset=", nil),
        ("text/plain; charset=\"utf-8", nil),
    ]

    @Test("is read as RFC 9110 writes it, and printed in one way", arguments: texts)
    func reads(text: String, printed: String?) {
        let type = HttpMimeType(text)
        #expect(type?.description == printed)
        if let printed { #expect(HttpMimeType(printed) == type) }
    }

    @Test("its parameters are found by their name in any case")
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
