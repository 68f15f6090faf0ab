import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("A hook around another one")
struct ComposedServiceHookTests {
    /// Writes what it is told into a log that several share.
    private struct Named: ServiceHook {
        let name: String
        let log: Locked<[String]>
        var fulfilment: String?
        var failure: (any Error & Sendable)?

        func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
            log.withLock { $0.append("\(name) asked") }
            if let failure { throw failure }
            return (fulfilment as? R.Result).map { HttpResponse(body: $0) }
        }
        func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async {
            log.withLock { $0.append("\(name) told \(response.body)") }
        }
        func onFailure<R: Request>(_ request: R, error: HttpError) async {
            log.withLock { $0.append("\(name) failed") }
        }
    }

    private struct Closed: Error {}

    private let log = Locked<[String]>([])

    private func call(_ hooks: [any ServiceHook], _ reply: ScriptedReply = .reply(text: "ok")) async -> [String] {
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            transport: ScriptedTransport(reply)
        ).with { $0.hook = hooks.reversed().reduce(NilServiceHook() as any ServiceHook) { $1.around($0) } }
        _ = try? await Ping.get.schedule(with: service)
        return log.withLock { $0 }
    }

    @Test("hooks are asked in order, and told of the end in the opposite one")
    func order() async {
        let hooks = ["a", "b"].map { Named(name: $0, log: log) }
        #expect(await call(hooks) == ["a asked", "b asked", "b told ok", "a told ok"])
    }

    @Test("a failure is told to all, the last first")
    func failure() async {
        let hooks = ["a", "b"].map { Named(name: $0, log: log) }
        #expect(await call(hooks, .status(500)) == ["a asked", "b asked", "b failed", "a failed"])
    }

    @Test("the first that fulfils ends the asking, and those before it are told of a success")
    func fulfilment() async {
        let hooks = [
            Named(name: "a", log: log), Named(name: "b", log: log), Named(name: "c", log: log, fulfilment: "kept"),
            Named(name: "d", log: log),
        ]
        #expect(await call(hooks) == ["a asked", "b asked", "c asked", "b told kept", "a told kept"])
    }

    @Test("if a composed hook throws, no further hook is asked, and all are told of the failure")
    func throwing() async {
        let hooks = [
            Named(name: "a", log: log), Named(name: "b", log: log, failure: Closed()), Named(name: "c", log: log),
        ]
        #expect(await call(hooks) == ["a asked", "b asked", "c failed", "b failed", "a failed"])
    }
}
