import Foundation
import Nautilus
import Testing

@Suite("A server that takes few exchanges at once over HTTP/2", .timeLimit(.minutes(10)), .whereHttp2Traced)
struct Http2LimitTests {
    /// Sends GETs and POSTs at once, and returns the texts of their answers.
    private func texts(_ count: Int, of url: URL, through transport: CurlTransport) async throws -> [String] {
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<count {
                group.addTask { try await send(number % 2 == 0 ? .get : .post, url, through: transport).text }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("gets no more, on one connection, from the first exchange on", arguments: [1, 2, 10])
    func strict(limit: Int) async throws {
        try await Http2Server.run("strict=\(limit)") { server in
            let transport = server.transport()
            for _ in 0..<3 {
                let texts = try await texts(60, of: server.url("/hold/\(limit)"), through: transport)
                #expect(texts == Array(repeating: "1", count: 60))
            }
            let report = try await server.report()
            #expect(report.connections == 1)
            #expect(report.mostAtOnce == limit)
            #expect(report.requests.count == 180)
        }
    }

    @Test("gets no more when it changes its mind, and more when it takes more")
    func changed() async throws {
        try await Http2Server.run("strict=10") { server in
            let transport = server.transport()
            for limit in [10, 2, 1, 7, 10, 3] {
                _ = try await send(.get, server.url("/settings/\(limit)"), through: transport)
                let texts = try await texts(limit * 6, of: server.url("/hold/\(limit)"), through: transport)
                #expect(texts == Array(repeating: "1", count: limit * 6))
            }
            #expect(try await server.report().connections == 1)
        }
    }

    @Test("gets the more urgent first")
    func urgent() async throws {
        try await Http2Server.run("strict=1") { server in
            let transport = server.transport()
            let gate = try server.url("/gate")
            let first = Task { try await send(.get, gate, through: transport).status }
            await server.wait(for: "gate")
            let others = [RequestPriority.low, .normal, .high].map { priority in
                Task {
                    let url = try server.url("/\(priority)")
                    let request = HttpRequest(method: .get, url: url, priority: priority)
                    return try await transport.send(request, context: context(of: url)).status
                }
            }
            // Long enough for all to stand in line, nearly always.
            try await Task.sleep(for: .milliseconds(500))
            _ = try await send(.get, server.url("/open"), through: server.transport { $0.httpVersion = .http1 })
            #expect(try await first.value == 200)
            for other in others { #expect(try await other.value == 200) }
            #expect(try await server.report().requests == ["GET /gate", "GET /high", "GET /normal", "GET /low"])
        }
    }
}
