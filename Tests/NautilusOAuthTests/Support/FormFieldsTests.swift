import Testing

@testable import NautilusOAuth

@Suite("FormFields")
struct FormFieldsTests {
    @Test(
        "values are decoded as forms are: + is a blank, an escape is a byte (RFC 6749 appendix B)",
        arguments: [
            ("a=b", ["b"]), ("a=b+c%2Bd", ["b c+d"]), ("%61=b", ["b"]), ("a", [""]), ("a=", [""]), ("a=b=c", ["b=c"]),
            ("a=1&b=2&a=3", ["1", "3"]), ("&&a=1&", ["1"]), ("a=%e2%82%AC", ["€"]), ("b=a", []), ("", []),
            ("A=1", []), ("a=%00", ["\0"]),
        ]
    )
    func decoded(query: String, values: [String]) throws {
        #expect(try #require(FormFields(query[...])).values(of: "a") == values)
    }

    @Test(
        "an escape that is none, and bytes that are no text, make no fields",
        arguments: ["a=%", "a=%4", "a=%4g", "a=%g4", "%=a", "a=%FF", "a=%e2%82", "a=%%41", "a=%+1"]
    )
    func broken(query: String) {
        #expect(FormFields(query[...]) == nil)
    }
}
