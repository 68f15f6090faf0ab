import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Rules known by the type of a property")
struct RuleByTypeTests {
    struct Renamed: Request {
        typealias Result = Void
        let payload = HttpBody.json(["a": 1])
        let statusCodes: Set<Int> = [200, 404]
        let fine: HttpStatusCodes = [200, 304]
        let verb = "POST"
        let kind = HttpMethod.put
        let timeouts: Duration = .seconds(1)
        let queryParameters = ["a": "1"]
        let filter: HttpQuery = ["a": 1]
        let extra: HttpHeader = ["A": "1"]
        let place: HttpRoute = ["notes"]
        let urgency = HttpRequest.Priority.high
        var route: HttpRoute { [] }
    }

    struct OtherNames: Request {
        typealias Result = Void
        let requestBody = Data()
        let acceptedStatuses = 200...299
        let validStatusCodes = [200]
        var route: HttpRoute { ["notes"] }
    }

    /// Has types of rules for its own purposes, and declares the rules.
    struct Declared: Request {
        typealias Result = Void
        let extra: HttpHeader = ["A": "1"]
        let none: HttpHeader = [:]
        let filter: HttpQuery = ["a": 1]
        let payload = HttpBody.json(["a": 1])
        let kind = HttpMethod.put
        let fine: HttpStatusCodes = [200, 304]
        let statusCodes = [500, 503]
        let place: HttpRoute = ["notes"]
        let urgency = HttpRequest.Priority.high
        var route: HttpRoute { place }
        var header: HttpHeader { ["B": "2"] }
        var query: HttpQuery { filter }
        var body: HttpBody { payload }
        var method: HttpMethod { kind }
        var acceptedStatusCodes: HttpStatusCodes { fine }
        var priority: HttpRequest.Priority { urgency }
    }

    /// A computed rule that returns an empty value, and a form.
    struct Empty: Request {
        typealias Result = Void
        let extra: HttpHeader = [:]
        let fields: HttpQuery = ["a": 1]
        var route: HttpRoute { ["notes"] }
        var header: HttpHeader { extra }
        var method: HttpMethod { .post }
        var body: HttpBody { .form(fields) }
    }

    struct Service: HttpService {
        let retryFactory = BackoffRetrier.factory()
        let coder = JsonCoders(dates: .secondsSince1970)
        let decoder = JSONDecoder()
        let defaultHeaders = ["A": "1"]
        let fields: HttpHeader = ["A": "1"]
        let maxRetries = 3
        let observers: [any CallObserver] = []
        let backoff = BackoffRetrier.factory()
        var apiUrl: any UrlConvertible { "api.example.com" }
    }

    struct DeclaredService: HttpService {
        let maxRetries = 3
        let backoff = BackoffRetrier.factory()
        let fields: HttpHeader = ["A": "1"]
        let coder = JsonCoders(dates: .secondsSince1970)
        let observers: [any CallObserver] = []
        var apiUrl: any UrlConvertible { "api.example.com" }
        var header: HttpHeader { fields }
        var coders: JsonCoders { coder }
        var observer: any CallObserver { PrintingObserver { _ in } }
        var retrierFactory: any RetrierFactory { BackoffRetrier.factory(.init(maxAttempts: maxRetries + 1)) }
    }

    struct Lazy: Request {
        typealias Result = Void
        lazy var timeout: Double = 1
        lazy var deadline: Duration? = .seconds(1)
        lazy var headers: [String: String] = [:]
        lazy var note = "text"
        var route: HttpRoute { ["notes"] }
    }

    final class LazyClass: HttpService, @unchecked Sendable {
        lazy var deadline: Duration? = .seconds(1)
        lazy var observer: any CallObserver = PrintingObserver { _ in }
        lazy var timeout: Double = 1
        var apiUrl: any UrlConvertible { "api.example.com" }
    }

    private let service = AnyHttpService(apiUrl: "api.example.com")

    @Test("F26: a value of a type that only a rule has is named whatever its name, while the rule has its default")
    func requests() {
        #expect(
            Self.names(service.diagnose(Renamed())) == [
                "payload", "statusCodes", "fine", "verb", "kind", "timeouts", "queryParameters", "filter", "extra",
                "place",
                "urgency",
            ]
        )
        #expect(
            Self.names(service.diagnose(OtherNames())) == ["requestBody", "acceptedStatuses", "validStatusCodes"]
        )
        #expect(Self.names(service.diagnose(Declared())) == [])
        #expect(Self.names(service.diagnose(Empty())) == [])
    }

    @Test("F26: a service's values of such a type, and its other names for rules, are named")
    func services() {
        #expect(
            Self.names(Service().diagnose()) == [
                "retryFactory", "coder", "decoder", "defaultHeaders", "fields", "maxRetries", "observers",
                "backoff",
            ]
        )
        #expect(Self.names(DeclaredService().diagnose()) == [])
    }

    @Test("F26: a lazy property is named as it was declared, in a struct even with the rule's own type")
    func lazily() {
        #expect(
            Self.properties(service.diagnose(Lazy())) == [
                "lazy var timeout: Double", "lazy var deadline: Optional<Duration>",
                "lazy var headers: Dictionary<String, String>",
            ]
        )
        #expect(Self.properties(LazyClass().diagnose()) == ["lazy var timeout: Double"])
    }

    private static func properties(_ findings: [PolicyFinding]) -> [String] {
        findings.compactMap { finding in
            if case .notTheRule(let property, _, _) = finding { property } else { nil }
        }
    }

    private static func names(_ findings: [PolicyFinding]) -> [String] {
        properties(findings).map { String($0.prefix { $0 != ":" }) }
    }
}
