import FlyingFox
import FlyingSocks
import Foundation

/// A real server, of another maker, whose web sockets a test serves.
final class SocketServer: Sendable {
    enum Answer: Sendable {
        case socket(any WSMessageHandler)
        case decline(Int, [String: String] = [:])
    }

    /// Given the credential and the request's number, from 1.
    typealias Script = @Sendable (_ authorization: String?, _ number: Int) async -> Answer

    let url: String
    private let journal: Journal

    /// The authorization of every request, in the order in which they came.
    var authorizations: [String?] { journal.authorizations.withLock { $0 } }

    private init(url: String, journal: Journal) {
        (self.url, self.journal) = (url, journal)
    }

    static func run(_ script: @escaping Script, whileOpen body: (SocketServer) async throws -> Void) async throws {
        let journal = Journal(script: script)
        let server = HTTPServer(
            address: try sockaddr_in.inet(ip4: "127.0.0.1", port: 0),
            // Longer than any barrier holds a request on a busy machine: what is over time is answered by a 500.
            timeout: 600,
            logger: .disabled,
            handler: journal
        )
        let run = Task { try await server.run() }
        try await server.waitUntilListening(timeout: 60)
        guard case .ip4(_, let port)? = await server.listeningAddress else { throw SocketError.unsupportedAddress }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(SocketServer(url: "ws://127.0.0.1:\(port)", journal: journal)))
        } catch {
            result = .failure(error)
        }
        await server.stop()
        run.cancel()
        _ = await run.result
        try result.get()
    }
}

private struct Journal: HTTPHandler {
    let script: SocketServer.Script
    let authorizations = Shared<[String?]>([])

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        let authorization = request.headers[.authorization]
        let number = authorizations.withLock {
            $0.append(authorization)
            return $0.count
        }
        switch await script(authorization, number) {
        case .socket(let handler):
            return try await WebSocketHTTPHandler(handler: MessageFrameWSHandler(handler: handler)).handleRequest(
                request
            )
        case .decline(let status, let fields):
            var headers = HTTPHeaders()
            for (name, value) in fields { headers.setValues([value], for: HTTPHeader(name)) }
            return HTTPResponse(statusCode: .init(status, phrase: "Status \(status)"), headers: headers)
        }
    }
}

/// Sends everything back.
struct Echo: WSMessageHandler {
    func makeMessages(for client: AsyncStream<WSMessage>) async throws -> AsyncStream<WSMessage> {
        client
    }
}

/// Says this, whatever it hears, and then waits for the end.
struct Speech: WSMessageHandler {
    let messages: [WSMessage]

    func makeMessages(for client: AsyncStream<WSMessage>) async throws -> AsyncStream<WSMessage> {
        AsyncStream { source in
            for message in messages { source.yield(message) }
            let hearing = Task {
                for await _ in client {}
                source.finish()
            }
            source.onTermination = { _ in hearing.cancel() }
        }
    }
}
