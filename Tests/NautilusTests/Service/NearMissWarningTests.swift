import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusPages
@testable import NautilusStreams

@Suite("Warnings of a debug build")
struct NearMissWarningTests {
    struct Missing: HttpService {
        let retrierFactory = AnyRetrierFactory { NilRetrier() }
        let header: [String: String] = [:]
        let interceptors = [IdempotencyKeys()]
        let transport = ScriptedTransport(afterLast: .repeat)
        let maxAttempts: UInt = 3
        let headers = ["A": "1"]
        var apiUrl: any UrlConvertible { "api.example.com" }
    }

    struct Right: HttpService {
        let retrierFactory = BackoffRetrier.factory()
        var header: HttpHeader = ["A": "1"]
        var interceptors: [any HttpInterceptor] = [IdempotencyKeys()]
        var transport: any HttpTransport = ScriptedTransport(afterLast: .repeat)
        var maxAttempts = 3
        var apiUrl: any UrlConvertible { "api.example.com" }
    }

    class Base: HttpService, @unchecked Sendable {
        let timeout: Duration = .seconds(5)
        var apiUrl: any UrlConvertible { "api.example.com" }
    }

    final class Derived: Base, @unchecked Sendable {}

    struct Poll: Request {
        typealias Result = Void
        let timeout: Duration = .seconds(1)
        let deadline: TimeInterval = 2
        let header: [String: String] = [:]
        let query = ["a": "1"]
        let body = Data()
        let method = "POST"
        let allowsHedging: Bool? = false
        var route: HttpRoute { [] }
    }

    /// A request whose own data has names of rules.
    struct Ticket: Request {
        typealias Result = Void
        let priority = 3
        let url = URL(string: "https://example.com/page")
        let method = "card"
        let query = "shell"
        let body = "text"
        let path = "/etc/motd"
        let timeout: Duration? = .seconds(1)
        let header: HttpHeader = [:]
        var route: HttpRoute { [] }
    }

    struct Chat: StreamRequest {
        typealias Message = String
        typealias Result = String
        let path = "chat"
        let timeout: Duration = .seconds(1)
        let subprotocols = "chat.v1"
        let header = ["A": "1"]
        var route: HttpRoute { [] }
    }

    struct Plain: Request {
        typealias Result = Void
        let timeout = 5.0
        var route: HttpRoute { [] }
    }

    /// The properties that checks of the same warnings warn of.
    private static func properties(_ checks: (TypeWarnings) -> Void) -> [String] {
        let lines = Locked<[String]>([])
        checks(TypeWarnings { line in lines.withLock { $0.append(line) } })
        return lines.withLock { $0 }.map { String($0.dropFirst().prefix { $0 != ":" }) }
    }

    @Test("a stored property with the name of a service's rule and another type is warned of")
    func services() {
        let properties = Self.properties { warnings in
            warnings.check(Missing().configuration, Ticket())
            warnings.check(Right().configuration, Ticket())
            warnings.check(AnyHttpService(Derived()).with { $0.maxAttempts = 2 }.configuration, Ticket())
        }
        #expect(properties == ["retrierFactory", "header", "interceptors", "transport", "maxAttempts", "timeout"])
    }

    @Test("a stored property with the name of a request's rule and another type is warned of, and its own data is not")
    func requests() {
        let properties = Self.properties { warnings in
            warnings.check(Right().configuration, Ticket())
            warnings.check(Right().configuration, Poll())
        }
        #expect(properties == ["timeout", "deadline", "header", "query", "body", "method", "allowsHedging"])
    }

    @Test("the request that was declared is checked, not the one that is made from it")
    func wrapped() {
        let properties = Self.properties { warnings in
            warnings.check(Right().configuration, AnyRequest(AnyRequest(Poll())))
            let linked = LinkedRequest(base: Plain(), target: URL(filePath: "/"), isTrusted: true)
            warnings.check(Right().configuration, linked)
            let handshake = WebSocketHandshake(transport: WebSocketsUnavailable())
            warnings.check(Right().configuration, WebSocketCall(request: Chat(), handshake: handshake))
            #expect(warnings.hasSeen(Poll.self) && warnings.hasSeen(Plain.self) && warnings.hasSeen(Chat.self))
            #expect(!warnings.hasSeen(Ticket.self))
        }
        #expect(properties.dropFirst(7) == ["timeout", "timeout", "subprotocols", "header"])
    }

    @Test("each type is warned of once")
    func once() {
        let properties = Self.properties { warnings in
            for _ in 1...3 { warnings.check(Missing().configuration, Poll()) }
        }
        #expect(properties.count == 7 + 5)
    }

    @Test("a warning says what diagnose() says")
    func words() {
        let lines = Locked<[String]>([])
        let warnings = TypeWarnings { line in lines.withLock { $0.append(line) } }
        let service = AnyHttpService(apiUrl: "api.example.com")
        warnings.check(service.configuration, Plain())
        #expect(lines.withLock { $0 } == service.diagnose(Plain()).map(\.description))
        #expect(
            lines.withLock { $0 } == [
                """
                `timeout: Double` of Plain is not the rule `timeout: Duration?`, whose default stays in force: declare it with \
                that name and type
                """
            ]
        )
    }

    #if DEBUG
        @Test("a call of a debug build checks its service and its request")
        func calls() async throws {
            struct Quiet: Request {
                typealias Result = Void
                var route: HttpRoute { [] }
            }
            #expect(!TypeWarnings.nearMisses.hasSeen(Quiet.self))
            _ = try? await Quiet().schedule(with: Right())
            #expect(TypeWarnings.nearMisses.hasSeen(Quiet.self) && TypeWarnings.nearMisses.hasSeen(Right.self))
        }
    #endif
}
