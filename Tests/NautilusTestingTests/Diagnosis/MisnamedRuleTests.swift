import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Rules under other names or with other types")
struct MisnamedRuleTests {
    struct InOnePiece: JsonRequest {
        typealias Result = Int
        let timeout: Double = 1
        let header: [String: String] = ["A": "1"]
        let routes: HttpRoute = ["notes"]
        let httpMethod = "POST"
        let queryItems = [URLQueryItem(name: "a", value: "1")]
        let httpBody = Data("{}".utf8)
        var route: HttpRoute { [] }
    }

    struct InTwo {
        let timeout: Double = 1
        let header: [String: String] = ["A": "1"]
        let endpoint = "notes"
        let headerFields: [(String, String)] = []
        let httpMethod = HttpMethod.post
    }

    struct OwnNames: Request {
        typealias Result = Void
        let routes = ["A 7", "A 8"]
        let endpoint = "left luggage"
        let httpMethod = "card"
        let httpBody = "text"
        let queryItems = 3
        var route: HttpRoute { ["tours"] }
        var method: HttpMethod { .post }
    }

    static let names = ["timeout: Double", "header: Dictionary<String, String>"]

    @Test("F26: stored rules of another type or name are named by diagnose(), in whichever form they are declared")
    func diagnosed() {
        let service = AnyHttpService(apiUrl: "api.example.com")
        #expect(
            Self.properties(service.diagnose(InOnePiece())) == Self.names + [
                "routes: HttpRoute", "httpMethod: String", "queryItems: Array<URLQueryItem>", "httpBody: Data",
            ]
        )
        #expect(
            Self.properties(service.diagnose(InTwo())) == Self.names + [
                "endpoint: String", "headerFields: Array<(String, String)>", "httpMethod: HttpMethod",
            ]
        )
        #expect(Self.properties(service.diagnose(OwnNames())) == [])
    }

    @Test("F26: the first call of a debug build warns of those of another type, in whichever form they are declared")
    func warned() {
        let lines = Locked<[String]>([])
        let warnings = TypeWarnings { line in lines.withLock { $0.append(line) } }
        let service = AnyHttpService(apiUrl: "api.example.com")
        warnings.check(service.configuration, InOnePiece())
        #expect(lines.withLock { $0.count } == 2)
        warnings.check(service.configuration, InTwo())
        warnings.check(service.configuration, OwnNames())
        #expect(lines.withLock { $0.count } == 4)
    }

    private static func properties(_ findings: [PolicyFinding]) -> [String] {
        findings.compactMap { finding in
            if case .notTheRule(let property, _, _) = finding { property } else { nil }
        }
    }
}

extension MisnamedRuleTests.InTwo: JsonRequest {
    typealias Result = Int
    var route: HttpRoute { [] }
}
