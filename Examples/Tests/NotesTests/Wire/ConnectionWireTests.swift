import Foundation
import Nautilus
import NotesAPI
import ScriptedSockets
import Testing

@Suite("Connections that fail under a call", .timeLimit(.minutes(10)))
struct ConnectionWireTests {
    @Test("A4: a POST to a server that is down is repeated once it is up: nothing of it was sent")
    func refused() async throws {
        try await ScriptedServer.whileRefusing { down in
            let port = down.port
            let upAtSecondAttempt = ServerAtAttempt(number: 2, port: port)
            let service = AnyHttpService(
                apiUrl: "http://127.0.0.1:\(port)",
                interceptors: [upAtSecondAttempt],
                retrierFactory: BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = .constant(.zero)
                        $0.maxAttempts = 2
                        $0.budget = .unlimited
                    }
                )
            )
            let response = try await Probe(method: .post, body: .json(["a": 1])).response(with: service)
            #expect(response.trace.attempts.count == 2)
            guard case .failed(.send, _, .notSent)? = response.trace.attempts.first?.outcome else {
                Issue.record("the first attempt ended otherwise: \(response.trace)")
                return
            }
            let requests = await upAtSecondAttempt.requests
            #expect(requests.map(\.method) == ["POST"])
            #expect(requests.map(\.body) == [Data(#"{"a":1}"#.utf8)])
            await upAtSecondAttempt.stop()
        }
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

    @Test("A5: a POST whose connection is reset after its bytes were read is not repeated")
    func reset() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            await connection.reset()
        } whileOpen: { server in
            let notes = try NotesService.test(
                NotesEnvironment(name: "scripted", origin: "http://127.0.0.1:\(server.port)")
            )
            let error = await #expect(throws: NotesError.self) {
                try await Probe(method: .post, body: .json(["a": 1])).schedule(with: notes)
            }
            #expect(error?.httpError.kind == .transport(.networkConnectionLost))
            #expect(error?.httpError.delivery == .maybeExecuted)
            #expect(error?.httpError.trace.attempts.map(\.decision?.reason) == [.mayHaveExecuted])
            #expect(await server.requests.map(\.body) == [Data(#"{"a":1}"#.utf8)])
        }
    }

    @Test("A14: a server that does not speak TLS is not asked again")
    func tls() async throws {
        let server = try await StubServer.start(answering: .status(200))
        let service = AnyHttpService(
            apiUrl: "https://127.0.0.1:\(server.port)",
            retrierFactory: BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = .constant(.zero)
                    $0.budget = .unlimited
                }
            )
        )
        let error = await #expect(throws: HttpError.self) { try await Probe().schedule(with: service) }
        #expect(error?.kind == .transport(.secureConnectionFailed))
        #expect(error?.delivery == .notSent)
        #expect(error?.trace.attempts.count == 1)
        #expect(await server.requests.isEmpty)
        await server.stop()
    }

    @Test(
        "A14: a server whose certificate is not trusted is not asked again",
        .enabled(if: UntrustedTlsServer.openssl != nil, "needs openssl")
    )
    func untrustedCertificate() async throws {
        try await UntrustedTlsServer.run { server in
            let service = AnyHttpService(
                apiUrl: "https://127.0.0.1:\(server.port)",
                retrierFactory: BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = .constant(.zero)
                        $0.budget = .unlimited
                    }
                )
            )
            let error = await #expect(throws: HttpError.self) { try await Probe().schedule(with: service) }
            #expect(error?.kind == .transport(.serverCertificateUntrusted))
            #expect(error?.delivery == .notSent)
            #expect(error?.trace.attempts.count == 1)
        }
    }
}

/// Starts a server just before an attempt.
private actor ServerAtAttempt: NetworkInterceptor {
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

    /// The requests that the server has received.
    var requests: [StubServer.Recorded] {
        get async { await server?.requests ?? [] }
    }

    func stop() async {
        await server?.stop()
    }
}
