import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("The content of a trace")
struct TraceRecorderTests {
    @Test("a success has the trace of its failures, and prints as a timeline")
    func timeline() async throws {
        let outcome = try await outcome(of: Ping.get) { clock in
            ScriptedTransport(
                .delay(.milliseconds(12), then: .status(503, header: ["Retry-After": "2"])),
                .fail(.networkConnectionLost),
                .delay(.milliseconds(8), then: .reply(text: "ok")),
                clock: clock
            )
        }
        #expect(
            outcome.trace.description == """
                GET https://api.example.com/things: 3 attempts in 3.020 s
                  #1  at 0 ms       status 503 after 12 ms (rejected)
                      BackoffRetrier: retry in 2 s (Retry-After 2 s)
                  #2  at 2.012 s    connection lost (URLError -1005), in send, after 0 ms (maybeExecuted)
                      BackoffRetrier: retry in 1 s (backoff, retry 2)
                  #3  at 3.012 s    200 after 8 ms
                """
        )
    }

    @Test("no secret is in a trace, an error or their reflections")
    func noSecrets() async throws {
        struct Secretive: Request {
            typealias Result = String
            var route: HttpRoute { [] }
            var header: HttpHeader { ["Authorization": "Bearer hunter2", "Cookie": "hunter2", "X-Api-Key": "hunter2"] }
            var query: HttpQuery { ["access_token": "hunter2"] }
            var body: HttpBody { .form(["password": "hunter2"]) }
            var method: HttpMethod { .post }
        }
        let transport = ScriptedTransport(
            .reply(status: 401, header: ["Set-Cookie": "hunter2", "X-Token": "hunter2"], text: "hunter2")
        )
        let outcome = try await outcome(of: Secretive(), transport)
        let error = try #require(outcome.error)
        var dumped = ""
        dump(error, to: &dumped)
        dump(transport.attempts[0].request, to: &dumped)
        dump(transport.attempts[0], to: &dumped)
        let all = [
            "\(error)", String(reflecting: error), error.localizedDescription, "\(outcome.trace)", dumped,
            "\(transport.attempts[0])", "\(transport.attempts[0].header)", "\(String(describing: error.response))",
            String(reflecting: error.response), String(reflecting: transport.attempts[0].request),
        ]
        for text in all { #expect(!text.contains("hunter2")) }
        #expect(error.response?.body == Data("hunter2".utf8))
    }

    @Test("an observer is told of every attempt and of the end; a disabled one of nothing")
    func observer() async throws {
        final class Recording: CallObserver {
            let events = Locked<[String]>([])
            func observe(_ event: CallEvent) {
                let text =
                    switch event {
                    case .attemptStarted(let call, let number): "\(call.request) #\(number)"
                    case .exchangeStarted(_, let exchange): "sent \(exchange.number)"
                    case .exchangeEnded(_, let exchange): "answered \(exchange.status ?? 0)"
                    case .attemptEnded(_, let attempt): "ended #\(attempt.number)"
                    case .callEnded(_, let trace): "call ended after \(trace.attempts.count)"
                    default: "other"
                    }
                events.withLock { $0.append(text) }
            }
        }
        let observer = Recording()
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: ScriptedRetrier.factory { _, _ in true },
            transport: ScriptedTransport(.status(503), .reply(text: "ok"))
        ).with { $0.observer = observer }
        _ = try await Ping.get.schedule(with: service)
        #expect(
            observer.events.withLock { $0 } == [
                "Ping #1", "sent 1", "answered 503", "ended #1",
                "Ping #2", "sent 2", "answered 200", "ended #2", "call ended after 2",
            ]
        )
    }

    @Test("an error keeps at most 64 KiB of the response's body")
    func cappedBody() async throws {
        let transport = ScriptedTransport(.reply(status: 400, body: Data(count: 100_000)))
        let outcome = try await outcome(of: Ping.get, transport)
        #expect(outcome.error?.response?.body.count == 65_536)
    }
}
