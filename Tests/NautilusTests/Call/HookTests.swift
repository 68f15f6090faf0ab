import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Service hooks")
struct HookTests {
    private final class Recording: ServiceHook {
        let log = Locked<[String]>([])
        let fulfilment: String?
        let failure: (any Error)?

        init(fulfilment: String? = nil, failure: (any Error)? = nil) {
            self.fulfilment = fulfilment
            self.failure = failure
        }

        func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
            log.withLock { $0.append("schedule") }
            if let failure { throw failure }
            return (fulfilment as? R.Result).map { HttpResponse(body: $0) }
        }
        func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async {
            log.withLock { $0.append("success after \(response.trace.attempts.count)") }
        }
        func onFailure<R: Request>(_ request: R, error: HttpError) async {
            log.withLock { $0.append("failure: \(error.kind)") }
        }
    }

    private func service(_ transport: ScriptedTransport, _ hook: Recording) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: ScriptedRetrier.factory { asked, _ in asked == 0 ? true : false },
            transport: transport
        ).with { $0.hook = hook }
    }

    @Test("a call is scheduled once and succeeds once, whatever the number of attempts")
    func success() async throws {
        let hook = Recording()
        _ = try await Ping.get.schedule(with: service(ScriptedTransport(.status(503), .reply(text: "ok")), hook))
        #expect(hook.log.withLock { $0 } == ["schedule", "success after 2"])
    }

    @Test("a failure is told once, when it surfaces")
    func failure() async throws {
        let hook = Recording()
        let service = service(ScriptedTransport(.status(503), .status(500)), hook)
        await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: service) }
        #expect(hook.log.withLock { $0 } == ["schedule", "failure: status 500"])
    }

    @Test("a hook that fulfils a call spares everything else")
    func fulfilment() async throws {
        let hook = Recording(fulfilment: "remembered")
        let transport = ScriptedTransport()
        let response = try await Ping.get.response(with: service(transport, hook))
        #expect(response.body == "remembered")
        #expect(response.trace.attempts.isEmpty)
        #expect(hook.log.withLock { $0 } == ["schedule"])
        #expect(transport.count == 0)
    }

    @Test("a hook that throws fails the call before anything is built")
    func throwing() async throws {
        struct Closed: Error {}
        let hook = Recording(failure: Closed())
        let transport = ScriptedTransport()
        let error = await #expect(throws: HttpError.self) {
            try await Ping.get.schedule(with: service(transport, hook))
        }
        #expect(error?.stage == .hook)
        #expect(error?.underlying is Closed)
        #expect(transport.count == 0)
    }
}
