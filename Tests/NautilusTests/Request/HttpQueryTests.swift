import Foundation
import Testing

@testable import Nautilus

@Suite("HttpQuery")
struct HttpQueryTests {
    private enum Sort: String, QueryConvertible {
        case newest = "new est"
    }

    private enum Loud: Int, QueryConvertible, CustomStringConvertible {
        case one = 1
        var description: String { "ONE" }
    }

    @Test("pairs keep their order, and repeated names are kept")
    func order() {
        let query: HttpQuery = ["b": 1, "a": 2, "b": 3]
        #expect(query.encoded == "b=1&a=2&b=3")
    }

    @Test(
        "everything but unreserved characters is percent-encoded, in names and in values",
        arguments: [
            ("a b", "a%20b"), ("+", "%2B"), ("&", "%26"), ("=", "%3D"), ("ü", "%C3%BC"), ("🐚", "%F0%9F%90%9A"),
            ("%20", "%2520"), ("a/b?c#d", "a%2Fb%3Fc%23d"), ("[]", "%5B%5D"), (",;'\"", "%2C%3B%27%22"),
            ("\r\n", "%0D%0A"), ("~-._", "~-._"), ("", ""),
        ]
    )
    func encoding(text: String, expected: String) {
        #expect(HttpQuery(dictionaryLiteral: (text, text)).encoded == "\(expected)=\(expected)")
    }

    @Test("nil is left out, an empty text is not")
    func absent() {
        let none: String? = nil
        #expect(HttpQuery(dictionaryLiteral: ("a", none), ("b", ""), ("c", Optional(1))).encoded == "b=&c=1")
        #expect(HttpQuery(dictionaryLiteral: ("a", none)).encoded == "")
    }

    @Test(
        "arrays are written as the style has it",
        arguments: [
            (HttpQuery.Style.Arrays.repeated, "t=a%2Cb&t=c&n=1"),
            (.brackets, "t%5B%5D=a%2Cb&t%5B%5D=c&n=1"),
            (.commaSeparated, "t=a%2Cb,c&n=1"),
        ]
    )
    func arrays(style: HttpQuery.Style.Arrays, expected: String) {
        let query: HttpQuery = ["t": ["a,b", "c"], "none": [String](), "nils": [nil, nil] as [Int?], "n": 1]
        #expect(query.styled(.init(arrays: style)).encoded == expected)
        let optional: HttpQuery = ["t": Optional(["a,b", "c"]), "none": nil as [Int]?, "n": 1]
        #expect(optional.styled(.init(arrays: style)).encoded == expected)
    }

    @Test("an array of one is still an array")
    func single() {
        #expect(HttpQuery(dictionaryLiteral: ("t", [1])).styled(.init(arrays: .brackets)).encoded == "t%5B%5D=1")
    }

    @Test("booleans are written as the style has it, in arrays too")
    func booleans() {
        let query: HttpQuery = ["a": true, "b": false, "c": [true, false]]
        #expect(query.encoded == "a=true&b=false&c=true&c=false")
        #expect(query.styled(.init(booleans: .numeric)).encoded == "a=1&b=0&c=1&c=0")
    }

    @Test("numbers, identifiers and raw values are written without a locale")
    func values() throws {
        let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        let query: HttpQuery = [
            "a": -1, "b": 1.5, "c": Decimal(string: "1234567.25"), "d": id, "e": Sort.newest, "f": Loud.one,
            "g": Int8.min, "h": UInt64.max, "i": Float(0.5), "j": Substring("x"), "k": Int32(7), "l": UInt16(8),
        ]
        #expect(
            query.encoded == "a=-1&b=1.5&c=1234567.25&d=E621E1F8-C36C-495A-93FC-0C247A3E6E5F&e=new%20est&f=1"
                + "&g=-128&h=18446744073709551615&i=0.5&j=x&k=7&l=8"
        )
    }

    @Test("pairs can be added, and emptiness is of pairs")
    func adding() {
        var query: HttpQuery = [:]
        #expect(query.isEmpty)
        query.add("x", to: "a")
        #expect(!query.isEmpty)
        #expect(query.encoded == "a=x")
    }
}
