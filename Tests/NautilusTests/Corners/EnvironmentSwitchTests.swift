import Foundation
import NautilusPages
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("A switch that flips at every step of a call")
struct EnvironmentSwitchTests {
    @Test(
        "a request's URL, fields, credential and transport are of one environment at every step"
    )
    func call() async throws {
        let quiet = try await run(flippingAt: 0) { try await Ping.get.schedule(with: $0) }
        #expect(quiet.ending == "ok")
        var endings: [String] = []
        for step in 1...quiet.stepCount {
            let run = try await run(flippingAt: step) { try await Ping.get.schedule(with: $0) }
            #expect(run.strays == [], "step \(step)")
            #expect(run.sent.allSatisfy { $0 == "staging" }, "step \(step)")
            endings.append(run.ending)
        }
        // After the last attempt was built it goes unnoticed.
        let noticed = endings.prefix { $0 == "environmentChanged" }
        #expect(!noticed.isEmpty && noticed.count < endings.count)
        #expect(endings.dropFirst(noticed.count).allSatisfy { $0 == "ok" })
    }

    @Test("a switch at any step of two pages never lets the second come from another environment")
    func pages() async throws {
        try await expectOneEnvironment(reply: Self.page) { service in
            var pages = 0
            for try await _ in CursorPages().pages(with: service) { pages += 1 }
            return "\(pages)"
        }
    }

    @Test("a switch at any step of an event stream never lets the second connection go elsewhere")
    func events() async throws {
        try await expectOneEnvironment(reply: Self.event) { service in
            var events = 0
            for try await _ in Ping.get.events(with: service) {
                events += 1
                if events == 2 { break }
            }
            return "\(events)"
        }
    }

    /// Reads a sequence of two once for each step at which the service may move: nothing strays, and nothing is asked elsewhere.
    private func expectOneEnvironment(
        reply: @escaping @Sendable (Int, HttpRequest) -> HttpResponse<Data>,
        _ read: @escaping @Sendable (Switched) async throws -> String
    ) async throws {
        let quiet = try await run(flippingAt: 0, reply: reply, read)
        #expect(quiet.ending == "2")
        for step in 1...quiet.stepCount {
            let run = try await run(flippingAt: step, reply: reply, read)
            #expect(run.strays == [], "step \(step)")
            #expect(Set(run.sent).count <= 1, "step \(step)")
        }
    }

    @Test("a hook is not asked about the next page of another environment")
    func hook() async throws {
        let environment = Locked("staging")
        let asked = Counter()
        let script = ScriptedTransport(.reply(text: #"{"numbers": [1], "next": "b"}"#))
        let service = SwitchedHook(environment: environment, transport: script, asked: asked)
        var pages = CursorPages().pages(with: service).makeAsyncIterator()
        _ = try await pages.next()
        environment.withLock { $0 = "production" }
        let error = await #expect(throws: HttpError.self) { try await pages.next() }
        #expect(error?.kind.isEnvironmentChange == true)
        #expect(asked.value == 1)
        #expect(script.attempts.count == 1)
    }

    private static func page(_ number: Int, _ request: HttpRequest) -> HttpResponse<Data> {
        number == 1
            ? HttpResponse(status: 503, header: [:], body: Data())
            : HttpResponse(
                status: 200,
                header: [:],
                body: Data(#"{"numbers": [1]\#(number == 2 ? #", "next": "b""# : "")}"#.utf8)
            )
    }

    private static func event(_ number: Int, _ request: HttpRequest) -> HttpResponse<Data> {
        HttpResponse(
            status: 200,
            header: ["Content-Type": "text/event-stream"],
            body: Data("id: \(number)\ndata: a\n\n".utf8)
        )
    }

    /// Runs calls against a service that moves at a step of them; none at 0.
    private func run(
        flippingAt step: Int,
        reply: @escaping @Sendable (Int, HttpRequest) -> HttpResponse<Data> = { number, _ in
            HttpResponse(status: number == 1 ? 503 : 200, header: [:], body: Data("ok".utf8))
        },
        _ body: @escaping @Sendable (Switched) async throws -> String
    ) async throws -> TurningEnvironment.Seen {
        try await simulate { simulation in
            let environment = TurningEnvironment(turningAt: step)
            let ending: String
            do {
                ending = try await body(Switched(environment: environment, clock: simulation.clock, reply: reply))
            } catch let error as HttpError where error.kind.isEnvironmentChange {
                ending = "environmentChanged"
            }
            var seen = environment.seen
            seen.ending = ending
            return seen
        }
    }
}

extension FailureKind {
    fileprivate var isEnvironmentChange: Bool {
        if case .environmentChanged = self { true } else { false }
    }
}

private struct Switched: HttpService {
    let environment: TurningEnvironment
    let clock: any Clock<Duration>
    let reply: @Sendable (Int, HttpRequest) -> HttpResponse<Data>
    let callSession = CallSession()

    var apiUrl: any UrlConvertible { stepping { $0 } }
    var header: HttpHeader { stepping { ["X-Service": $0] } }
    var asyncHeader: HttpHeader {
        get async throws {
            await Task.yield()
            return stepping { ["X-Async": $0] }
        }
    }
    var interceptors: [any HttpInterceptor] { stepping { [Wrapping(name: $0, environment: environment)] } }
    var retrierFactory: any RetrierFactory {
        stepping { name in
            AnyRetrierFactory { [callSession] in Authorizing(name: name, session: callSession, retries: 1) }
        }
    }
    var transport: any HttpTransport { stepping { Arriving(name: $0, service: self) } }

    private func stepping<Value>(_ value: (String) -> Value) -> Value {
        defer { environment.step() }
        return value(environment.name)
    }

    private struct Wrapping: CallInterceptor {
        let name: String
        let environment: TurningEnvironment

        func intercept(
            _ request: HttpRequest,
            context: CallContext,
            next: CallInterceptor.Next
        ) async throws -> HttpResponse<Data> {
            var request = request
            request.header["X-Wrapped"] = name
            await Task.yield()
            environment.step()
            return try await next(request)
        }
    }

    private struct Authorizing: Retrier {
        let name: String
        let session: CallSession
        var retries: Int

        var credentials: [any CallCredential] {
            [WrittenCredential(in: session) { [name] in $0.header[.authorization] = name }]
        }

        mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
            guard retries > 0, !error.kind.isEnvironmentChange else { return .doNotRetry }
            retries -= 1
            return .retry(after: .seconds(1))
        }
    }

    private struct Arriving: HttpTransport {
        let name: String
        let service: Switched

        func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
            defer { service.environment.step() }
            let (host, header) = (request.url.host ?? "", request.header)
            let names = [header["X-Service"], header["X-Async"], header["X-Wrapped"], header[.authorization], name]
            return service.reply(service.environment.arrived(host, at: host, with: names), request)
        }
    }
}

private struct SwitchedHook: HttpService {
    let environment: Locked<String>
    let transport: any HttpTransport
    let asked: Counter

    var apiUrl: any UrlConvertible { environment.withLock { $0 } }
    var hook: any ServiceHook { Asked(counter: asked) }

    private struct Asked: ServiceHook {
        let counter: Counter

        func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
            counter.increment()
            return nil
        }
    }
}
