import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("Structured fields (RFC 9651)")
struct StructuredFieldTests {
    @Test(
        "lists of structured fields are read",
        arguments: [
            ("", ""), ("  ", ""), ("a", "token a"), (" a ,\t*b/c:d ", "token a, token *b/c:d"),
            ("\"a \\\"b\\\\\"", "string a \"b\\"), ("12, -7, 999999999999999", "12, -7, 999999999999999"),
            ("1.5, -0.125, ?1, ?0, @1700000000, %\"caf%c3%a9\"", "other, other, other, other, other, other"),
            (":aGk=:", "bytes aGk="), ("::", "bytes "), ("(1 \"b\";x=1 c);y=2, ()", "other;y=2, other"),
            ("\"p\";q=100;w=60;pk=:dQ==:;burst", "string p;burst=other;pk=bytes dQ==;q=100;w=60"),
            ("a;  b=1;b=2", "token a;b=2"),
        ]
    )
    func lists(text: String, expected: String) throws {
        let items = try #require(StructuredField.list(text))
        #expect(items.map(Self.text).joined(separator: ", ") == expected)
    }

    @Test(
        "a list that is malformed anywhere is refused as a whole",
        arguments: [
            ",", "a,", "a,,b", "a b", "a;", "a;B=1", "a;1=1", "a;b=", "a; b =1", "\"a", "\"a\\n\"", "\"a\u{7F}\"",
            "\"é\"",
            "1.", "1.2345", "1234567890123.1", "1234567890123456", "-", "--1", ":a", ":a b:", "(a", "(a,b)", "(\"a\"b)",
            "?2",
            "@", "@1.5", "%a", "é", "=", "limit=100, remaining=50",
        ]
    )
    func malformedLists(text: String) {
        #expect(StructuredField.list(text) == nil)
    }

    @Test("F12c: in a display string only a percent sign escapes, and its text is valid UTF-8")
    func displayStrings() {
        for text in [#"%"a \ b""#, #"%"\""#, #"%"""#, #"%"%22%5c%e2%82%ac""#, #"a;note=%"C:\x";b=1, (%"\")"#] {
            #expect(StructuredField.list(text) != nil, "\(text)")
        }
        for text in [
            #"%"a"#, #"%"\"""#, #"%"%""#, #"%"%2""#, #"%"%2g""#, #"%"%C3%A9""#, #"%"%c3""#, #"%"%ff""#, #"%"é""#,
            #"% "a""#,
            "%\"\t\"",
        ] {
            #expect(StructuredField.list(text) == nil, "\(text)")
        }
    }

    @Test("dictionaries are read, of a repeated key the last, and refused when malformed anywhere")
    func dictionaries() throws {
        let members = try #require(StructuredField.dictionary("limit=100, remaining=50;x, a, *b=c;d=1, limit=7"))
        #expect(
            members.mapValues(Self.text) == [
                "limit": "7", "remaining": "50;x=other", "a": "other", "*b": "token c;d=1",
            ]
        )
        #expect(StructuredField.dictionary("")?.isEmpty == true)
        for text in ["limit=100,", "Limit=100", "limit=", "limit =1", "100"] {
            #expect(StructuredField.dictionary(text) == nil, "\(text)")
        }
    }

    private static func text(_ item: StructuredField.Item) -> String {
        let parameters = item.parameters.all.sorted { $0.key < $1.key }.map { "\($0.key)=\(text($0.value))" }
        return ([text(item.value)] + parameters).joined(separator: ";")
    }

    private static func text(_ item: StructuredField.BareItem) -> String {
        switch item {
        case .integer(let integer): "\(integer)"
        case .string(let text): "string \(text)"
        case .token(let text): "token \(text)"
        case .bytes(let text): "bytes \(text)"
        case .other: "other"
        }
    }
}
