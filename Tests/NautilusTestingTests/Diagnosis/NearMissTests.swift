import Foundation
import NautilusStreams
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusPages

@Suite("Properties that look like rules")
struct NearMissTests {
    struct Missing: HttpService {
        let retrierFactory = AnyRetrierFactory { NilRetrier() }
        let header: [String: String] = [:]
        let interceptors = IdempotencyKeys()
        let transport = ScriptedTransport(afterLast: .repeat)
        let maxAttempts: UInt = 3
        let observer: any CallObserver = PrintingObserver { _ in }
        var apiUrl: any UrlConvertible { "api.example.com" }
    }

    struct Headers: HttpService {
        let headers = ["A": "1"]
        let retrier = BackoffRetrier.factory()
        var apiUrl: any UrlConvertible { "api.example.com" }
    }

    struct Right: HttpService {
        let retrierFactory = BackoffRetrier.factory()
        var header: HttpHeader = ["A": "1"]
        var headers = ["A": "1"]
        var interceptors: [any HttpInterceptor] = [IdempotencyKeys()]
        var transport: any HttpTransport = ScriptedTransport(afterLast: .repeat)
        var maxAttempts = 3
        var observer: any CallObserver = PrintingObserver { _ in }
        var baseURL = "api.example.com"
        var apiUrl: any UrlConvertible { baseURL }
    }

    struct Poll: Request {
        typealias Result = String
        let timeout: Duration = .seconds(1)
        let deadline: TimeInterval = 2
        let header: [String: String] = [:]
        let query = ["a": "1"]
        let body = Data()
        let allowsHedging: Bool? = false
        var route: HttpRoute { [] }
        func decode(_ data: Data) throws -> String { "" }
    }

    struct Search: Request {
        typealias Result = String
        let query: String
        let body: String
        let timeout: Duration? = .seconds(1)
        let header: HttpHeader = [:]
        var route: HttpRoute { [] }
        func decode(_ data: Data) throws -> String { "" }
    }

    @Test("a service's stored properties that are none of its rules are found, wrapped or not")
    func service() {
        let expected = [
            "retrierFactory: AnyRetrierFactory", "header: Dictionary<String, String>", "interceptors: IdempotencyKeys",
            "transport: ScriptedTransport", "maxAttempts: UInt",
        ]
        #expect(Self.properties(Missing().diagnose()) == expected)
        #expect(Self.properties(AnyHttpService(Missing()).with { $0.maxAttempts = 2 }.diagnose()) == expected)
        #expect(Self.properties(Headers().diagnose()).map { $0.prefix(7) } == ["headers", "retrier"])
        #expect(Self.properties(Right().diagnose()) == [])
    }

    @Test("a request's are found, and its own data is left alone")
    func request() {
        let service = AnyHttpService(apiUrl: "api.example.com")
        #expect(
            Self.properties(service.diagnose(Poll())) == [
                "timeout: Duration", "deadline: Double", "header: Dictionary<String, String>",
                "query: Dictionary<String, String>", "body: Data", "allowsHedging: Optional<Bool>",
            ]
        )
        #expect(Self.properties(service.diagnose(Search(query: "shell", body: "text"))) == [])
    }

    @Test("a finding says what to declare")
    func words() {
        #expect(
            service(Poll()).first
                == """
                `timeout: Duration` of Poll is not the rule `timeout: Duration?`, whose default stays in force: declare it with \
                that name and type
                """
        )
    }

    struct Posted: JsonRequest {
        typealias Result = String
        let method = "POST"
        let encoder = PropertyListEncoder()
        let decoder: JSONDecoder? = JSONDecoder()
        let usesSnakeCase: Bool? = true
        let priority: Float = 1
        var route: HttpRoute { [] }
    }

    struct Renamed: Request {
        typealias Result = Void
        let baseURL = "https://files.example.com"
        let path = "notes/7"
        let parameters = ["a": "1"]
        let timeoutInterval = 5.0
        var route: HttpRoute { [] }
    }

    struct Lowercase: Request {
        typealias Result = Void
        enum Verb: String { case delete }
        let method = Verb.delete
        let url = URL(string: "https://files.example.com")
        let params: [URLQueryItem] = []
        var route: HttpRoute { [] }
    }

    /// Names of rules, and other names for them, that are a request's own data.
    struct OwnData: JsonRequest {
        typealias Result = String
        let path = "/etc/motd"
        let baseURL = URL(string: "https://files.example.com")
        let parameters = ["a": "1"]
        let method: HttpMethod = .post
        let priority = 3
        let decoder = JSONDecoder()
        let encoder = JSONEncoder()
        let usesSnakeCase = true
        var url: (any UrlConvertible)? { baseURL }
        var route: HttpRoute { [path] }
        var query: HttpQuery { ["a": parameters["a"]] }
    }

    /// A bookmark's URL and a payment's method.
    struct Bookmark: Request {
        typealias Result = Void
        let url = URL(string: "https://example.com/page")
        let method = "card"
        let parameters = ["a": "1"]
        let route: HttpRoute = ["bookmarks"]
        var body: HttpBody { .json(parameters) }
    }

    struct Chat: StreamRequest {
        typealias Message = String
        typealias Result = String
        let path = "chat"
        let timeout: Duration = .seconds(1)
        let protocols = ["chat.v1"]
        let header = ["A": "1"]
        var route: HttpRoute { [] }
    }

    class Base: HttpService, @unchecked Sendable {
        let timeout: Duration = .seconds(5)
        let deadline: Duration = .seconds(20)
        let baseURL = "https://www.example.com"
        var apiUrl: any UrlConvertible { "api.example.com" }
    }

    final class Derived: Base, @unchecked Sendable {}

    @Test("method, route, coders and priority of other types are found, and other names for a rule")
    func more() {
        let service = AnyHttpService(apiUrl: "api.example.com")
        #expect(
            Self.properties(service.diagnose(Posted())) == [
                "method: String", "encoder: PropertyListEncoder",
                "decoder: Optional<JSONDecoder>", "usesSnakeCase: Optional<Bool>", "priority: Float",
            ]
        )
        #expect(
            Self.properties(service.diagnose(Renamed())) == [
                "baseURL: String", "path: String", "parameters: Dictionary<String, String>", "timeoutInterval: Double",
            ]
        )
        #expect(
            Self.properties(service.diagnose(Lowercase())) == [
                "method: Verb", "url: Optional<URL>", "params: Array<URLQueryItem>",
            ]
        )
        #expect(Self.properties(service.diagnose(OwnData())) == [])
        #expect(Self.properties(service.diagnose(Bookmark())) == [])
    }

    @Test("a web socket's request is looked at")
    func stream() {
        let findings = AnyHttpService(apiUrl: "api.example.com").diagnose(Chat())
        let expected = [
            "path: String", "timeout: Duration", "protocols: Array<String>", "header: Dictionary<String, String>",
        ]
        #expect(Self.properties(findings) == expected)
    }

    @Test("the request that was declared is looked at, not the one that is made from it")
    func wrapped() {
        let service = AnyHttpService(apiUrl: "api.example.com")
        #expect(Self.properties(service.diagnose(AnyRequest(Poll()))).count == 6)
    }

    @Test("a near miss in a superclass of a service is found")
    func superclass() {
        #expect(
            Derived().diagnose().map(\.description) == [
                """
                `timeout: Duration` of Derived is not the rule `timeout: Duration?`, whose default stays in force: declare it \
                with that name and type
                """,
                """
                `deadline: Duration` of Derived is not the rule `deadline: Duration?`, whose default stays in force: \
                declare it with that name and type
                """,
            ]
        )
    }

    private func service(_ request: some Request) -> [String] {
        AnyHttpService(apiUrl: "api.example.com").diagnose(request).map(\.description)
    }

    private static func properties(_ findings: [PolicyFinding]) -> [String] {
        findings.compactMap { finding in
            guard case .notTheRule(let property, _, _) = finding else { return nil }
            return property
        }
    }
}
