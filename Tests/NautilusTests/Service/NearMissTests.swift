import Foundation
import NautilusTesting
import Testing

@testable import Nautilus

@Suite("Properties that look like rules")
struct NearMissTests {
    struct Missing: HttpService {
        let retrierFactory = BackoffRetrier.factory()
        let header: [String: String] = [:]
        let interceptors = IdempotencyKeys()
        let transport = ScriptedTransport(afterLast: .repeat)
        let maxAttempts: UInt = 3
        let hedging = 1
        let observer: any CallObserver = PrintingObserver { _ in }
        var apiUrl: any UrlConvertible { "api.example.com" }
    }

    struct Headers: HttpService {
        let headers = ["A": "1"]
        let retrier = BackoffRetrier.factory()
        var apiUrl: any UrlConvertible { "api.example.com" }
    }

    struct Right: HttpService {
        var retrierFactory: any RetrierFactory = BackoffRetrier.factory()
        var header: HttpHeader = ["A": "1"]
        var headers = ["A": "1"]
        var interceptors: [any HttpInterceptor] = [IdempotencyKeys()]
        var transport: any HttpTransport = ScriptedTransport(afterLast: .repeat)
        var maxAttempts = 3
        var hedging: Hedging?
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
        func decode(_ data: Data) throws -> String { "" }
    }

    struct Search: Request {
        typealias Result = String
        let query: String
        let body: String
        let timeout: Duration? = .seconds(1)
        let header: HttpHeader = [:]
        func decode(_ data: Data) throws -> String { "" }
    }

    @Test("a service's stored properties that are none of its rules are found, wrapped or not")
    func service() {
        let expected = [
            "retrierFactory: AnyRetrierFactory", "header: Dictionary<String, String>", "interceptors: IdempotencyKeys",
            "transport: ScriptedTransport", "maxAttempts: UInt", "hedging: Int",
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
                that type, and the conformance in an extension, where the compiler says so
                """
        )
    }

    private func service(_ request: some Request) -> [String] {
        AnyHttpService(apiUrl: "api.example.com").diagnose(request).map(\.description)
    }

    @Test("each type is told of once")
    func once() {
        let lines = Locked<[String]>([])
        let warnings = NearMissWarnings { line in lines.withLock { $0.append(line) } }
        for _ in 1...3 { warnings.check(Headers(), Poll()) }
        #expect(lines.withLock { $0.count } == 8)
        #expect(warnings.hasSeen(Poll.self) && warnings.hasSeen(Headers.self))
        #expect(!warnings.hasSeen(Search.self))
    }

    #if DEBUG
        @Test("a call of a debug build looks at its service and its request")
        func calls() async throws {
            struct Quiet: Request {
                typealias Result = String
                func decode(_ data: Data) throws -> String { "" }
            }
            #expect(!NearMissWarnings.shared.hasSeen(Quiet.self))
            _ = try? await Quiet().schedule(with: Right())
            #expect(NearMissWarnings.shared.hasSeen(Quiet.self) && NearMissWarnings.shared.hasSeen(Right.self))
        }
    #endif

    private static func properties(_ findings: [PolicyFinding]) -> [String] {
        findings.compactMap { finding in
            guard case .notTheRule(let property, _, _) = finding else { return nil }
            return property
        }
    }
}
