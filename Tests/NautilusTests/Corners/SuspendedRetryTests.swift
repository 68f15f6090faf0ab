import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Retries of a process that was suspended")
struct SuspendedRetryTests {
    /// Makes a call whose first attempt fails at once and whose retry is due at 10 s, with the process suspended from 5 s
    /// to 605 s.
    private func call(
        _ request: Ping
    ) async throws -> (result: Result<String, HttpError>, starts: [Duration], end: Duration) {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(.status(503), .reply(text: "ok"), clock: clock)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = .constant(.seconds(10), jitter: .none)
                        $0.budget = .unlimited
                    }
                ),
                transport: transport,
                clock: clock
            )
            simulation.start {
                try? await clock.sleep(for: .seconds(5))
                clock.suspend(for: .seconds(600))
            }
            let result = await Result { () async throws(HttpError) in try await request.schedule(with: service) }
            return (result, transport.attempts.map(\.start), clock.now.offset)
        }
    }

    @Test("a retry that was due while the process was suspended goes out as soon as it wakes")
    func late() async throws {
        let call = try await call(Ping())
        #expect(try call.result.get() == "ok")
        #expect(call.starts == [.zero, .seconds(605)])
    }

    @Test("a call whose deadline passed while the process was suspended ends as it wakes, with its last failure")
    func deadlinePassed() async throws {
        let call = try await call(Ping(deadline: .seconds(60)))
        let error = #expect(throws: HttpError.self) { try call.result.get() }
        #expect(error?.kind == .status(503))
        #expect(call.starts == [.zero])
        #expect(call.end == .seconds(605))
    }
}
