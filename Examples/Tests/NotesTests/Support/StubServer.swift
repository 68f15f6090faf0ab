import FlyingFox
import FlyingSocks
import Foundation

/// A real server that answers as a test says, and remembers what it was asked.
final class StubServer: Sendable {
    /// A request as it came over the wire.
    struct Recorded: Sendable {
        let method: String
        let path: String
        let authorization: String?
        let cookie: String?
        let apiKey: String?
        let contentType: String?
        let idempotencyKey: String?
        let ifNoneMatch: String?
        let body: Data
    }

    enum Answer: Sendable {
        case status(Int, header: [String: String] = [:], json: String = "{}")
        /// The connection closes without an answer.
        case drop
    }

    /// Given a request and its number, from 1.
    typealias Script = @Sendable (_ request: Recorded, _ number: Int) async -> Answer

    let port: UInt16
    private let server: HTTPServer
    private let journal: Journal
    private let run: Task<Void, any Error>

    var origin: String { "http://127.0.0.1:\(port)" }

    /// Starts a server on `port`; 0 for one that the system chooses.
    static func start(port: UInt16 = 0, _ script: @escaping Script) async throws -> StubServer {
        let journal = Journal()
        let server = HTTPServer(
            address: try sockaddr_in.inet(ip4: "127.0.0.1", port: port),
            timeout: 600,
            logger: .disabled,
            handler: StubHandler(journal: journal, script: script)
        )
        let run = Task { try await server.run() }
        try await server.waitUntilListening(timeout: 60)
        guard case .ip4(_, let port)? = await server.listeningAddress else { throw SocketError.unsupportedAddress }
        return StubServer(port: port, server: server, journal: journal, run: run)
    }

    /// Answers in this order; a request beyond the last gets a 418, which nothing retries.
    static func start(answering answers: Answer...) async throws -> StubServer {
        try await start { _, number in number <= answers.count ? answers[number - 1] : .status(418) }
    }

    private init(port: UInt16, server: HTTPServer, journal: Journal, run: Task<Void, any Error>) {
        self.port = port
        self.server = server
        self.journal = journal
        self.run = run
    }

    var requests: [Recorded] {
        get async { await journal.requests }
    }

    /// Returns once `count` requests have come.
    func waitForRequests(_ count: Int) async {
        await journal.waitForRequests(count)
    }

    /// Closes the port and every connection.
    func stop() async {
        await server.stop()
        run.cancel()
        _ = await run.result
    }
}

private actor Journal {
    private(set) var requests: [StubServer.Recorded] = []
    private var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    func add(_ request: StubServer.Recorded) -> Int {
        requests.append(request)
        for watcher in watchers where watcher.count <= requests.count { watcher.continuation.resume() }
        watchers.removeAll { $0.count <= requests.count }
        return requests.count
    }

    func waitForRequests(_ count: Int) async {
        guard requests.count < count else { return }
        await withCheckedContinuation { watchers.append((count, $0)) }
    }
}

private struct StubHandler: HTTPHandler {
    let journal: Journal
    let script: StubServer.Script

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        let recorded = StubServer.Recorded(
            method: request.method.rawValue,
            path: request.path,
            authorization: request.headers[.authorization],
            cookie: request.headers[.cookie],
            apiKey: request.headers[HTTPHeader("X-Api-Key")],
            contentType: request.headers[.contentType],
            idempotencyKey: request.headers[HTTPHeader("Idempotency-Key")],
            ifNoneMatch: request.headers[HTTPHeader("If-None-Match")],
            body: try await request.bodyData
        )
        let number = await journal.add(recorded)
        switch await script(recorded, number) {
        case .drop:
            return HTTPResponse(webSocket: Refusal())
        case .status(let status, let header, let json):
            var headers = HTTPHeaders()
            for (name, value) in header { headers.setValues([value], for: HTTPHeader(name)) }
            // A reused connection that is dropped would be tried again below the transport.
            headers.setValues(["close"], for: .connection)
            let phrase = "Status \(status)"
            return HTTPResponse(statusCode: .init(status, phrase: phrase), headers: headers, body: Data(json.utf8))
        }
    }
}

/// A WebSocket that is refused before its header is written: the connection closes without a byte.
private struct Refusal: WSHandler, Error {
    func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) async throws -> AsyncStream<WSFrame> {
        throw self
    }
}
