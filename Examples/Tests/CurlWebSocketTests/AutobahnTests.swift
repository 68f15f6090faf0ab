import Foundation
import Nautilus
import NautilusCurl
import Testing

/// A fuzzing server that somebody has started.
private enum AutobahnServer {
    static let url = ProcessInfo.processInfo.environment["NAUTILUS_AUTOBAHN"]
}

/// Run against the fuzzing server of Autobahn's suite, where `NAUTILUS_AUTOBAHN` has its URL:
///
/// ```text
/// wstest -m fuzzingserver -s spec.json      with "url": "ws://127.0.0.1:9001", "cases": ["*"]
/// NAUTILUS_AUTOBAHN=ws://127.0.0.1:9001 swift test --package-path Examples --filter AutobahnTests
/// ```
/// Groups 12 and 13 are of compression, which is not offered. Groups 1 to 7 are in the library's own tests as well, as bytes.
@Suite(
    "Autobahn's fuzzing server",
    .whereAvailable,
    .enabled(if: AutobahnServer.url != nil, "needs NAUTILUS_AUTOBAHN, the URL of wstest -m fuzzingserver"),
    .timeLimit(.minutes(60))
)
struct AutobahnTests {
    // On a thread of its own: the server gives a message a second to come back.
    private static let transport = CurlWebSocketTransport(over: CurlTransport())

    struct Verdict: Decodable {
        let behavior: String
    }

    @Test("Autobahn's fuzzing server finds no fault")
    func cases() async throws {
        let count = try #require(Int(try await text("getCaseCount")))
        #expect(count > 200)
        var faults: [Int: String] = [:]
        for number in 1...count {
            try await run(number)
            let status = try await text("getCaseStatus?case=\(number)&agent=nautilus")
            let verdict = try JSONDecoder().decode(Verdict.self, from: Data(status.utf8)).behavior
            // Not strict is a message that is not sent back because a breach of the rules came right behind it.
            guard !["OK", "INFORMATIONAL", "NON-STRICT"].contains(verdict) else { continue }
            faults[number] = verdict
        }
        #expect(faults == [:])
        _ = try? await open("updateReports?agent=nautilus").receive()
    }

    /// Sends every message back, until the server has had enough.
    private func run(_ number: Int) async throws {
        let connection = try await open("runCase?case=\(number)&agent=nautilus")
        do {
            while true { try await connection.send(try await connection.receive()) }
        } catch is WebSocketClosure {
        } catch is TransportError {
        }
    }

    private func text(_ path: String) async throws -> String {
        guard case .text(let text) = try await open(path).receive() else { throw URLError(.badServerResponse) }
        return text
    }

    private func open(_ path: String) async throws -> any WebSocketConnection {
        let server = try #require(AutobahnServer.url)
        return try await openSocket(try #require(URL(string: "\(server)/\(path)")), through: Self.transport)
    }
}
