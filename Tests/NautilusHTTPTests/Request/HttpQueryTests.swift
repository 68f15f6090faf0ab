import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP

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

    @Test("F28: a query is made from dictionaries, sorted by name, and from pairs in their order")
    func collections() {
        let texts = ["b": "2", "a": "1", "c": "x y"]
        #expect(HttpQuery(texts).encoded == "a=1&b=2&c=x%20y")
        let mixed: [String: any QueryConvertible] = ["b": 2, "a": ["x", "y"], "c": Int?.none]
        #expect(HttpQuery(mixed).encoded == "a=x&a=y&b=2")
        #expect(HttpQuery([("b", 2), ("a", 1), ("b", 3)]).encoded == "b=2&a=1&b=3")
        let pairs: [(String, any QueryConvertible)] = [("b", "x"), ("a", 1)]
        #expect(HttpQuery(pairs).encoded == "b=x&a=1")
        let named: KeyValuePairs = ["b": 2, "a": 1]
        #expect(HttpQuery(named).encoded == "b=2&a=1")
        #expect(HttpQuery(texts.sorted { $0.key > $1.key }).encoded == "c=x%20y&b=2&a=1")
        #expect(HttpQuery([:] as [String: String]).isEmpty)
    }

    struct Search: Encodable, Sendable {
        var text = "a&b"
        var author: String?
        var pageSize = 20
        var tags = ["sea", "shell"]
        var draft = false
        var price = Decimal(string: "12.30")
        var largest = UInt64.max
        var ratio = 0.5
        var since = Date(timeIntervalSince1970: 1_800_000_000)
    }

    @Test("F28: a query is made from any encodable value, by the coders and the style")
    func encodable() {
        let plain = HttpQuery(encoding: Search())
        #expect(
            plain.encoded == "draft=false&largest=18446744073709551615&pageSize=20&price=12.3&ratio=0.5"
                + "&since=2027-01-15T08%3A00%3A00Z&tags=sea&tags=shell&text=a%26b"
        )
        let coders = JsonCoders(dates: .secondsSince1970, keys: .snakeCase)
        let styled = plain.styled(.init(arrays: .brackets, booleans: .numeric))
        #expect(
            coders.asCurrent { styled.encoded }
                == "draft=0&largest=18446744073709551615&page_size=20&price=12.3&ratio=0.5"
                + "&since=1800000000&tags%5B%5D=sea&tags%5B%5D=shell&text=a%26b"
        )
        #expect(!"\(plain)".contains("a&b"))
    }

    @Test("F28: a date in a query is written by the service's coders, alone, in arrays and as an optional")
    func dates() {
        let date = Date(timeIntervalSince1970: 1_800_000_000.25)
        let query: HttpQuery = ["a": date, "b": [date, date], "c": Date?.none, "d": Optional(date)]
        let text = "2027-01-15T08%3A00%3A00Z"
        #expect(query.encoded == "a=\(text)&b=\(text)&b=\(text)&d=\(text)")
        for (dates, text) in [
            (.secondsSince1970, "1800000000.25"), (.millisecondsSince1970, "1800000000250"),
            (.iso8601WithFractions, "2027-01-15T08%3A00%3A00.250Z"),
            (.text(write: { _ in "now" }, read: { _ in nil }), "now"),
        ] as [(JsonCoders.Dates, String)] {
            let query: HttpQuery = ["a": date]
            #expect(JsonCoders(dates: dates).asCurrent { query.encoded } == "a=\(text)")
        }
        let adjusted = JsonCoders.standard.with { $0.adjustEncoder = { $0.dateEncodingStrategy = .secondsSince1970 } }
        let whole: HttpQuery = ["a": Date(timeIntervalSince1970: 7), "b": Date(timeIntervalSince1970: 1e12)]
        #expect(adjusted.asCurrent { whole.encoded } == "a=7&b=1000000000000")
        #expect(!whole.encoded.hasSuffix("b="))
    }

    @Test("F28: a value that no query has a form for makes the call fail before anything is sent")
    func notEncodable() async {
        struct Nested: Encodable, Sendable { let filter = ["tag": "s3cret"] }
        struct Grid: Encodable, Sendable { let rows = [[1], [2]] }
        struct Endless: Encodable, Sendable { let ratio = Double.infinity }
        let queries = [
            (HttpQuery(encoding: Nested()), "'filter'"), (HttpQuery(encoding: Grid()), "'rows'"),
            (HttpQuery(encoding: [1, 2]), "properties"), (HttpQuery(encoding: 7), "properties"),
            (HttpQuery(encoding: Endless()), "representation"),
        ]
        for (query, words) in queries {
            let transport = ScriptedTransport()
            let service = AnyHttpService(apiUrl: "api.example.com", transport: transport)
            for request in [AnyRequest(.get, ["a"], query: query), AnyRequest(.post, ["a"], body: .form(query))] {
                let error = await #expect(throws: HttpError.self) { try await request.schedule(with: service) }
                #expect(error?.delivery == .notSent)
                #expect(error.map { "\($0)".contains(words) && !"\($0)".contains("s3cret") } == true, "\(query)")
            }
            #expect(transport.count == 0)
        }
    }

    @Test("F28: a form is made from dictionaries, pairs and encodable values, by the request's encoder")
    func forms() async throws {
        struct Login: Encodable, Sendable { let userName = "a b" }
        struct LogIn: JsonRequest {
            typealias Result = String
            var method: HttpMethod { .post }
            var route: HttpRoute { ["login"] }
            var usesSnakeCase: Bool { true }
            var body: HttpBody { .form(encoding: Login()) }
        }
        let transport = ScriptedTransport(.json("ok"), afterLast: .repeat)
        let service = AnyHttpService(apiUrl: "api.example.com", transport: transport)
        _ = try await LogIn().schedule(with: service)
        let values = ["b": "2", "a": "1"]
        let forms: [HttpBody] = [
            .form(values), .form(HttpQuery(values)), .form(.init([("b", 2), ("a", 1)])),
            .form(["b": "2", "b": "3", "a": "x"]),
        ]
        for form in forms { try await AnyRequest(.post, ["login"], body: form).schedule(with: service) }
        #expect(
            transport.attempts.compactMap(\.body).map { String(decoding: $0, as: UTF8.self) }
                == ["user_name=a%20b", "a=1&b=2", "a=1&b=2", "b=2&a=1", "b=2&b=3&a=x"]
        )
        #expect(transport.attempts.allSatisfy { $0.header[.contentType] == "application/x-www-form-urlencoded" })
    }

    @Test(
        "F28: a header is made from a dictionary, and Basic authentication is one line that no diagnosis complains of"
    )
    func headers() {
        #expect(HttpHeader(["X-B": "2", "X-A": "1"]).fields.map(\.description) == ["X-A: 1", "X-B: 2"])
        let basic = HttpHeader.basicAuthorization(user: "Aladdin", password: "open sesame")
        #expect(basic[.authorization] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(
            HttpHeader.basicAuthorization(user: "test", password: "123£")[.authorization] == "Basic dGVzdDoxMjPCow=="
        )
        #expect(!"\(basic)".contains("QWxh"))
        let service = AnyHttpService(apiUrl: "api.example.com", header: basic)
        #expect(service.diagnose().isEmpty)
        let bearer = AnyHttpService(apiUrl: "api.example.com", header: [.authorization: "Bearer 1"])
        #expect(bearer.diagnose() == [.credentialInHeader(.authorization)])
    }

    @Test("F28: a request with a URL of its own carries neither the service's credential nor its keys")
    func presigned() async throws {
        struct UploadPhoto: Request {
            typealias Result = Void
            let target: URL
            var url: (any UrlConvertible)? { target }
            var method: HttpMethod { .put }
            var route: HttpRoute { [] }
            var body: HttpBody { .data(Data("photo".utf8), contentType: "image/jpeg") }
        }
        let transport = ScriptedTransport(.status(200))
        let header = HttpHeader.basicAuthorization(user: "a", password: "b").merging(["X-Api-Key": "1"])
        let service = AnyHttpService(apiUrl: "api.example.com/v1", header: header, transport: transport)
        let target = "https://files.example.net/photos/7.jpg?X-Signature=a%2Fb&X-Expires=60"
        try await UploadPhoto(target: try #require(URL(string: target))).schedule(with: service)
        let sent = transport.attempts.first
        #expect(sent?.request.url.absoluteString == target)
        #expect(sent?.header[.authorization] == nil && sent?.header["X-Api-Key"] == nil)
        #expect(sent?.body == Data("photo".utf8))
    }
}
