import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("A service derived from another")
struct OverridingTests {
    /// Has something of its own in everything, and counts how often it is read.
    struct Original: HttpService {
        struct Failure: Error { let status: Int? }

        let transport: any HttpTransport
        var reads = Counter()
        var apiUrl: any UrlConvertible { "original.example.com/v1" }
        var usesSecureProtocol: Bool { false }
        var header: HttpHeader { ["X-A": "original", "X-B": "original"] }
        var asyncHeader: HttpHeader {
            get async throws { ["X-C": "original \(reads.increment())", "X-D": "original"] }
        }
        var interceptors: [any HttpInterceptor] { [Marking(name: "X-Original")] }
        var retrierFactory: any RetrierFactory {
            ScriptedRetrier.factory { asked, _ in .init(booleanLiteral: asked < 2) }
        }
        var maxAttempts: Int { 50 }

        func mapError(_ error: HttpError) -> Failure { Failure(status: error.status) }
    }

    struct Marking: CallInterceptor {
        let name: HttpHeader.Name
        func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
            var request = request
            request.header[name] = "1"
            return try await next(request)
        }
    }

    struct Fulfilling: ServiceHook {
        func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
            ("hooked" as? R.Result).map { HttpResponse(body: $0) }
        }
    }

    @Test("`with` without a change behaves like the base service, typed error included")
    func nothing() async throws {
        let transport = ScriptedTransport(.status(503), .status(503), .status(404))
        let service = Original(transport: transport).with { _ in }
        do throws(Original.Failure) {
            _ = try await Ping.get.schedule(with: service)
            Issue.record("it should fail")
        } catch {
            #expect(error.status == 404)
        }
        let sent = try #require(transport.attempts.first?.request)
        #expect(sent.url.absoluteString == "http://original.example.com/v1/things")
        #expect(sent.header["X-Original"] == "1")
        #expect(transport.attempts.map { $0.header["X-C"] } == ["original 1", "original 2", "original 3"])
        #expect(service.maxAttempts == 50)
    }

    @Test("a header that overrides wins over both of the base, whose other fields stay")
    func header() async throws {
        let transport = ScriptedTransport(.reply(text: "ok"))
        let service = Original(transport: transport).with { $0.header = ["x-b": "mine", "X-D": "mine", "X-E": "mine"] }
        _ = try await Ping(header: ["X-E": "request"]).schedule(with: service)
        let header = try #require(transport.attempts.first?.header)
        #expect(
            ["X-A", "X-B", "X-C", "X-D", "X-E"].map { header[HttpHeader.Name($0)] } == [
                "original", "mine", "original 1", "mine", "request",
            ]
        )
        #expect(header.values(of: "X-B") == ["mine"])
        #expect(service.header["X-B"] == "mine")
    }

    @Test("`with` overrides the base URL, with and without a scheme")
    func address() async throws {
        let transport = ScriptedTransport(.reply(text: "ok"), afterLast: .repeat)
        let base = Original(transport: transport)
        _ = try await Ping.get.schedule(with: base.with { $0.apiUrl = "staging.example.com" })
        _ = try await Ping.get.schedule(
            with: base.with {
                $0.apiUrl = "staging.example.com"
                $0.usesSecureProtocol = true
            }
        )
        _ = try await Ping.get.schedule(with: base.with { $0.usesSecureProtocol = true })
        #expect(
            transport.attempts.map(\.request.url.absoluteString) == [
                "http://staging.example.com/things", "https://staging.example.com/things",
                "https://original.example.com/v1/things",
            ]
        )
    }

    @Test("interceptors, retrier, transport and the most attempts are replaced, one at a time")
    func parts() async throws {
        let unused = ScriptedTransport()
        let base = Original(transport: unused)
        var transport = ScriptedTransport(.status(503))
        var service = base.with { [transport] in
            $0.retrierFactory = .never
            $0.transport = transport
        }
        await #expect(throws: Original.Failure.self) { try await Ping.get.schedule(with: service) }
        #expect(transport.count == 1)

        transport = ScriptedTransport(.status(503), .status(503))
        service = base.with { [transport] in
            $0.transport = transport
            $0.maxAttempts = 2
        }
        await #expect(throws: Original.Failure.self) { try await Ping.get.schedule(with: service) }
        #expect(transport.count == 2)

        transport = ScriptedTransport(.reply(text: "ok"))
        service = base.with { [transport] in
            $0.interceptors = base.interceptors + [Marking(name: "X-Mine")]
            $0.transport = transport
        }
        _ = try await Ping.get.schedule(with: service)
        #expect(transport.attempts.first?.header["X-Original"] == "1")
        #expect(transport.attempts.first?.header["X-Mine"] == "1")

        transport = ScriptedTransport(.reply(text: "ok"))
        _ = try await Ping.get.schedule(
            with: base.with { [transport] in
                $0.interceptors = []
                $0.transport = transport
            }
        )
        #expect(transport.attempts.first?.header["X-Original"] == nil)
        #expect(unused.count == 0)
    }

    @Test("hook, observer and clock are replaced")
    func watchers() async throws {
        let unused = ScriptedTransport()
        let hooked = Original(transport: unused).with { $0.hook = Fulfilling() }
        #expect(try await Ping.get.schedule(with: hooked) == "hooked")
        #expect(unused.count == 0)

        try await simulate { simulation in
            let observer = RecordingObserver()
            let transport = ScriptedTransport(.delay(.seconds(3), then: .reply(text: "ok")), clock: simulation.clock)
            let service = Original(transport: transport).with {
                $0.observer = observer
                $0.clock = simulation.clock
            }
            let response = try await Ping.get.response(with: service)
            #expect(response.trace.duration == .seconds(3))
            #expect(!observer.events.isEmpty)
        }
    }

    @Test("an override of an override counts last, and keeps what the first said otherwise")
    func twice() async throws {
        let transport = ScriptedTransport(.reply(text: "ok"))
        let service = Original(transport: ScriptedTransport())
            .with {
                $0.apiUrl = "first.example.com"
                $0.header = ["X-A": "first", "X-B": "first"]
            }
            .with {
                $0.header = ["X-B": "second"]
                $0.transport = transport
            }
        _ = try await Ping.get.schedule(with: service)
        let sent = try #require(transport.attempts.first?.request)
        #expect(sent.url.host == "first.example.com")
        #expect(sent.header["X-A"] == "first")
        #expect(sent.header["X-B"] == "second")
    }

    @Test("an erased service prints where its calls go, and nothing of what may be a secret")
    func erasedPrintsNoSecret() {
        let service = AnyHttpService(apiUrl: "api.example.com/v1?api_key=s3cret").with {
            $0.header = [.authorization: "Bearer s3cret"]
        }
        var dumped = ""
        dump(service, to: &dumped)
        #expect("\(service)" == "AnyHttpService(https://api.example.com)")
        #expect(String(reflecting: service) == "AnyHttpService(https://api.example.com)")
        #expect(dumped.contains("https://api.example.com"))
        #expect(!dumped.contains("s3cret") && !dumped.contains("v1"))
        #expect("\(AnyHttpService(apiUrl: "no url"))" == "AnyHttpService(no valid URL)")
    }
}
