import Foundation
import Nautilus
import Testing

@Suite("A hostile server over HTTP/2", .timeLimit(.minutes(10)), .whereHttp2)
struct HostileHttp2Tests {
    /// The status that a GET gets, while one after it finds a connection that works.
    private func outcome(
        of path: String,
        _ change: (inout CurlTransport.Configuration) -> Void = { _ in }
    ) async throws -> Result<Int, TransportError> {
        try await Http2Server.run { server in
            let transport = server.transport(change)
            let result: Result<Int, TransportError>
            do {
                result = .success(try await send(.get, server.url(path), through: transport).status)
            } catch let error as TransportError {
                result = .failure(error)
            }
            #expect(try await send(.get, server.url("/echo"), through: transport).text == "GET ")
            #expect(try await server.report().requests.filter { $0 == "GET \(path)" }.count == 1)
            return result
        }
    }

    @Test(
        "cuts an answer, in its header, its body or its announced length: connection lost",
        arguments: ["reset", "short", "close", "length", "header", "head", "over"]
    )
    func cut(course: String) async throws {
        #expect(try await outcome(of: "/cut/\(course)") == .failure(TransportError(.networkConnectionLost)))
    }

    @Test(
        "resets the exchange, with or without an error: connection lost, and not sent again",
        arguments: [0, 2, 8, 11]
    )
    func reset(code: Int) async throws {
        #expect(try await outcome(of: "/reset/\(code)") == .failure(TransportError(.networkConnectionLost)))
    }

    @Test(
        "sends a header that must not be: an error",
        arguments: [
            "upper", "line", "zero", "status", "codec", "late", "connection", "encoding", "none",
        ]
    )
    func invalid(course: String) async throws {
        let outcome = try await outcome(of: "/invalid/\(course)")
        guard case .failure(.failed(_, .maybeExecuted, _)) = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test("switches protocols unasked: an error")
    func switched() async throws {
        #expect(try await outcome(of: "/switch") == .failure(TransportError(.networkConnectionLost)))
    }

    @Test("sends a header, or interim responses, without end: an error", arguments: ["header/40000", "interim/40"])
    func large(path: String) async throws {
        let outcome = try await outcome(of: "/\(path)") { $0.headerLimit = 20_000 }
        guard case .failure(.failed(.badServerResponse, .maybeExecuted, _)) = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test("sends a header of a megabyte, which is more than is ever taken: an error")
    func huge() async throws {
        let outcome = try await outcome(of: "/header/1000000") { $0.headerLimit = 10_000_000 }
        #expect(outcome == .failure(TransportError(.networkConnectionLost)))
    }

    @Test("sends a body that is larger than it may be: an error")
    func largeBody() async throws {
        let outcome = try await outcome(of: "/large/1000000") { $0.responseLimit = 500_000 }
        #expect(outcome == .failure(.responseTooLarge(limit: 500_000)))
    }

    @Test(
        "floods the connection: the exchange ends",
        arguments: [
            "ping", "settings", "data", "continuation", "empty", "push", "garbage", "window", "priority", "unknown",
        ]
    )
    func flood(course: String) async throws {
        switch try await outcome(of: "/flood/\(course)") {
        case .success(let status): #expect(status == 200)
        case .failure(let error): #expect(error == TransportError(.networkConnectionLost))
        }
    }
}
