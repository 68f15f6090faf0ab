import DemoServers
import Foundation
import Nautilus
import NautilusTesting
import NotesAPI
import Testing

@Suite("Retries over real sockets", .timeLimit(.minutes(10)))
struct RetryWireTests {
    private static let note = #"{"id":7,"text":"…","title":"Shell"}"#

    @Test("A1: two 503s, then the note: 3 attempts")
    func unavailable() async throws {
        let server = try await StubServer.start(answering: .status(503), .status(503), .status(200, json: Self.note))
        let notes = try NotesService.test(NotesEnvironment(server))
        let response = try await GetNote(id: 7).response(with: notes)
        #expect(response.body.title == "Shell")
        #expect(response.trace.attempts.count == 3)
        #expect(await server.requests.map(\.path) == Array(repeating: "/v1/notes/7", count: 3))
        await server.stop()
    }

    @Test("A2: a POST without a key that meets a 500 is not repeated: the server may have executed it")
    func postWithoutKey() async throws {
        let server = try await StubServer.start(answering: .status(500), .status(200))
        let notes = try NotesService.test(NotesEnvironment(server))
        let error = await #expect(throws: NotesError.self) {
            try await Probe(method: .post, body: .json(["a": 1])).schedule(with: notes)
        }
        #expect(error?.httpError.delivery == .maybeExecuted)
        #expect(error?.httpError.trace.attempts.last?.decision?.reason == .mayHaveExecuted)
        #expect(await server.requests.count == 1)
        await server.stop()
    }

    @Test("A3: a POST with a key is repeated, with the same key and the same bytes")
    func postWithKey() async throws {
        let server = try await StubServer.start(answering: .status(500), .status(201, json: Self.note))
        let notes = try NotesService.test(NotesEnvironment(server))
        _ = try await CreateNote(title: "Shell", text: "…", idempotencyKey: "key-1").schedule(with: notes)
        let requests = await server.requests
        #expect(requests.map(\.idempotencyKey) == ["key-1", "key-1"])
        #expect(requests.map(\.body) == Array(repeating: Data(#"{"text":"…","title":"Shell"}"#.utf8), count: 2))
        await server.stop()
    }

    @Test("A6: a 429 with Retry-After: 2 is repeated 2 s later and not a nanosecond sooner")
    func retryAfter() async throws {
        let server = try await StubServer.start(
            answering: .status(429, header: ["Retry-After": "2"]),
            .status(200)
        )
        let clock = ManualClock()
        let notes = try NotesService.test(NotesEnvironment(server), clock: clock)
        let call = Task { try await Probe().response(with: notes).trace }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(2) - .nanoseconds(1))
        #expect(clock.sleeperCount == 1)
        #expect(await server.requests.count == 1)
        clock.advance(by: .nanoseconds(1))
        let trace = try await call.value
        #expect(trace.attempts.map(\.start) == [.zero, .seconds(2)])
        #expect(await server.requests.count == 2)
        await server.stop()
    }

    @Test("A17: a timeout of 1 s and a deadline of 2.5 s end a call to a silent server at 2.5 s, in its third attempt")
    func silence() async throws {
        let silence = Barrier()
        let server = try await StubServer.start { _, _ in
            await silence.pass()
            return .drop
        }
        let clock = ManualClock()
        let notes = try NotesService.test(NotesEnvironment(server), clock: clock)
        let call = Task {
            try await Probe(timeout: .seconds(1), deadline: .seconds(2.5)).schedule(with: notes)
        }
        for attempt in 1...3 {
            await server.waitForRequests(attempt)
            // The deadline's and the timeout's.
            try await clock.waitForAlarms(count: 2)
            clock.advance(by: attempt < 3 ? .seconds(1) : .seconds(0.5))
        }
        guard case .failure(let error) = await call.result else {
            Issue.record("the call succeeded")
            return
        }
        let httpError = (error as? NotesError)?.httpError
        #expect(httpError?.kind == .deadline(.seconds(2.5)))
        let trace = httpError?.trace
        #expect(trace?.attempts.map(\.start) == [.zero, .seconds(1), .seconds(2)])
        #expect(trace?.duration == .seconds(2.5))
        #expect(await server.requests.count == 3)
        await silence.open()
        await server.stop()
    }
}
