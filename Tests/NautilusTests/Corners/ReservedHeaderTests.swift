import Foundation
import NautilusStreams
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCurl
@testable import NautilusHTTP
@testable import NautilusURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Fields that only the transport writes", .endsInTime)
struct ReservedHeaderTests {
    private static let names: [HttpHeader.Name] = ["Host", "content-length", "Transfer-Encoding", "EXPECT"]

    /// The ways in which a field gets into a request.
    private enum Way: CaseIterable {
        case request, service, asyncHeader, interceptor, retrier, secondAttempt
    }

    private struct Adding: CallInterceptor {
        let name: HttpHeader.Name
        func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
            var request = request
            request.header.add("1", to: name)
            return try await next(request)
        }
    }

    /// Adds the field from an attempt on.
    private struct Authorizing: Retrier {
        let name: HttpHeader.Name
        let first: Int
        let attempts = Counter()
        var credentials: [any CallCredential] {
            [
                WrittenCredential { [name, first, attempts] request in
                    if attempts.increment() >= first { request.header.add("1", to: name) }
                }
            ]
        }
        mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
            error.kind == .status(503) ? .retry(after: .zero, evenIfExecuted: true) : false
        }
    }

    private static func service(_ way: Way, _ name: HttpHeader.Name) -> AnyHttpService<HttpError> {
        AnyHttpService(apiUrl: "api.example.com", transport: ScriptedTransport(), clock: ManualClock()).with {
            switch way {
            case .request: break
            case .service: $0.header = [name: "1"]
            case .asyncHeader: $0.asyncHeader = { [name: "1"] }
            case .interceptor: $0.interceptors = [Adding(name: name)]
            case .retrier: $0.retrierFactory = AnyRetrierFactory { Authorizing(name: name, first: 1) }
            case .secondAttempt: $0.retrierFactory = AnyRetrierFactory { Authorizing(name: name, first: 2) }
            }
        }
    }

    @Test("F11: a field that only the transport writes is refused, whoever sets it, and not sent", arguments: names)
    func refused(name: HttpHeader.Name) async throws {
        for way in Way.allCases {
            let transport = ScriptedTransport(.status(503))
            let service = Self.service(way, name).with { $0.transport = transport }
            let call = Ping(method: .post, header: way == .request ? [name: "1"] : [:])
            let error = await #expect(throws: HttpError.self) { try await call.schedule(with: service) }
            #expect(error?.kind == .invalidRequest(.reservedHeader(name)), "\(way)")
            #expect(transport.count == (way == .secondAttempt ? 1 : 0), "\(way)")
            #expect(error?.description.contains("The header \(name) must not be set: ") == true)
        }
    }

    @Test("F11: the opening of a web socket is refused with a field that only the transport writes", arguments: names)
    func sockets(name: HttpHeader.Name) async throws {
        struct Chat: StreamRequest {
            typealias Message = String
            typealias Result = String
            var header: HttpHeader
            var route: HttpRoute { ["chat"] }
        }
        for way in Way.allCases where way != .secondAttempt {
            let transport = ScriptedWebSocketTransport()
            let service = Self.service(way, name).with { $0.webSocketTransport = transport }
            let call = Chat(header: way == .request ? [name: "1"] : [:])
            let error = await #expect(throws: HttpError.self) { _ = try await call.schedule(with: service) }
            #expect(error?.kind == .invalidRequest(.reservedHeader(name)), "\(way)")
            #expect(transport.requests.isEmpty)
        }
    }

    @Test("F11: each transport refuses a field that only it writes before it sends anything", arguments: names)
    func transports(name: HttpHeader.Name) throws {
        let request = HttpRequest(method: .post, url: try .reading("https://a.example/"), header: [name: "1"])
        #expect(throws: HttpRequest.Invalid.reservedHeader(name)) { _ = try URLRequest(request, body: nil) }
        #if os(Linux)
            #expect(throws: HttpRequest.Invalid.reservedHeader(name)) { _ = try CurlRequest(request) }
        #endif
        let opening = HttpRequest(url: try .reading("wss://a.example/"), header: [name: "1"])
        #expect(throws: HttpRequest.Invalid.reservedHeader(name)) {
            _ = try WebSocketOpeningRequest(opening, key: [])
        }
    }

    @Test(
        "F11: a web socket's opening refuses the fields of its handshake as well",
        arguments: [
            "Connection", "upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions",
            "Sec-WebSocket-Accept",
        ] as [HttpHeader.Name]
    )
    func handshake(name: HttpHeader.Name) throws {
        let opening = HttpRequest(url: try .reading("wss://a.example/"), header: [name: "1"])
        #expect(throws: HttpRequest.Invalid.reservedHeader(name)) {
            _ = try WebSocketOpeningRequest(opening, key: [])
        }
        #expect(throws: Never.self) { try opening.validate() }
    }

    @Test("F11: the error about a field that only the transport writes says what to do instead")
    func remedies() {
        let remedies = [("Host", "base URL"), ("Content-Length", "`length:`"), ("Transfer-Encoding", "in chunks")]
        for (name, remedy) in remedies + [("Expect", "a request of its own"), ("Upgrade", "web socket")] {
            let text = HttpRequest.Invalid.reservedHeader(HttpHeader.Name(name)).description
            #expect(text.contains("The header \(name) must not be set") && text.contains(remedy))
        }
    }

    @Test("F11: a part of a form may have a length of its own")
    func parts() async throws {
        let transport = ScriptedTransport(.status(200))
        let part = MultipartForm.Part.text("abc", named: "a").with("Content-Length", "3")
        let call = Ping(method: .post, body: .multipart([part]))
        _ = try await call.schedule(with: AnyHttpService(apiUrl: "api.example.com", transport: transport))
        #expect(transport.count == 1)
    }
}
