import DemoServers
import Foundation
import Nautilus
import NautilusTesting
import NotesAPI
import Testing

@Suite("Retries over real sockets", .timeLimit(.minutes(2)))
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

    @Test("A4: a POST to a server that is down is repeated once it is up: nothing of it was sent")
    func refused() async throws {
        let port = try await unusedPort()
        let upAtSecondAttempt = ServerAtAttempt(number: 2, port: port)
        let service = AnyHttpService(
            apiUrl: "http://127.0.0.1:\(port)",
            interceptors: [upAtSecondAttempt],
            retrierFactory: BackoffRetrier.factory(backoff: .constant(.zero), maxAttempts: 2)
        )
        let response = try await Probe(method: .post, body: .json(["a": 1])).response(with: service)
        #expect(response.trace.attempts.count == 2)
        guard case .failed(.send, _, .notSent)? = response.trace.attempts.first?.outcome else {
            Issue.record("the first attempt ended otherwise: \(response.trace)")
            return
        }
        await upAtSecondAttempt.stop()
    }

    @Test("A5: a POST whose connection closes after its bytes were read is not repeated")
    func dropped() async throws {
        let server = try await StubServer.start(answering: .drop, .status(200))
        let notes = try NotesService.test(NotesEnvironment(server))
        let error = await #expect(throws: NotesError.self) {
            try await Probe(method: .post, body: .json(["a": 1])).schedule(with: notes)
        }
        #expect(error?.httpError.delivery == .maybeExecuted)
        #expect(error?.httpError.response == nil)
        #expect(await server.requests.map(\.body) == [Data(#"{"a":1}"#.utf8)])
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

    @Test("A14: a server that does not speak TLS is not asked again")
    func tls() async throws {
        let server = try await StubServer.start(answering: .status(200))
        let service = AnyHttpService(
            apiUrl: "https://127.0.0.1:\(server.port)",
            retrierFactory: BackoffRetrier.factory(backoff: .constant(.zero))
        )
        let error = await #expect(throws: HttpError.self) { try await Probe().schedule(with: service) }
        #expect(error?.trace.attempts.count == 1)
        #expect(await server.requests.isEmpty)
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
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: attempt < 3 ? .seconds(1) : .seconds(0.5))
        }
        guard case .failure(let error) = await call.result else {
            Issue.record("the call succeeded")
            return
        }
        let trace = (error as? NotesError)?.httpError.trace
        #expect(trace?.attempts.map(\.start) == [.zero, .seconds(1), .seconds(2)])
        #expect(trace?.duration == .seconds(2.5))
        #expect(await server.requests.count == 3)
        await silence.open()
        await server.stop()
    }

    /// A port on which nothing listens: one that the system has just given out and taken back.
    private func unusedPort() async throws -> UInt16 {
        let server = try await StubServer.start(answering: .status(200))
        await server.stop()
        return server.port
    }
}

/// Starts a server just before an attempt.
private actor ServerAtAttempt: HttpInterceptor {
    private let number: Int
    private let port: UInt16
    private var server: StubServer?

    init(number: Int, port: UInt16) {
        self.number = number
        self.port = port
    }

    nonisolated func intercept(
        _ request: HttpRequest,
        context: AttemptContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        if context.number == number { try await start() }
        return try await next(request)
    }

    private func start() async throws {
        server = try await StubServer.start(port: port) { _, _ in .status(200) }
    }

    func stop() async {
        await server?.stop()
    }
}
