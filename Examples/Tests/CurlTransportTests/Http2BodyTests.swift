import Foundation
import Nautilus
import Testing

@Suite("A body over HTTP/2", .serialized, .timeLimit(.minutes(10)), .whereHttp2Traced)
struct Http2BodyTests {
    private static func body(_ count: Int) -> HttpBody.Payload { .data(Data(repeating: 0x61, count: count)) }

    /// The sizes of bodies: within one frame, the most that is handed to libcurl at once, and more than its buffers.
    private static let sizes = [10, 16_384, 65_536, 1_048_576]

    @Test("arrives whole, however little the server lets through at once", arguments: [1, 100, 65_535])
    func whole(window: Int) async throws {
        // A byte at a time, a long body would take its time.
        let sizes = window == 1 ? [0, 10] : window == 100 ? [0, 10, 20_000] : [0] + Self.sizes
        try await Http2Server.run("window=\(window)") { server in
            let transport = server.transport()
            _ = try await send(.get, server.url("/a"), through: transport)
            for method in [HttpMethod.post, .put, .patch, .delete] {
                for size in sizes {
                    let text = try await send(method, server.url("/sum"), body: Self.body(size), through: transport)
                        .text
                    let words = text.split(separator: " ")
                    #expect(words[..<2] == [Substring(method.rawValue), "\(size)"])
                    #expect(words[3] == (size == 0 && method == .delete ? "None" : "\(size)"))
                }
            }
            let report = try await server.report()
            #expect(report.connections == 1)
            #expect(!report.requests.contains { $0.hasSuffix("http/1.1") })
        }
    }

    @Test(
        "need not have arrived for the answer to count, though the server lets no more of it through",
        arguments: [0, 1, 100, 65_535],
        ["length", "bare", "empty", "reset", "cancel", "trailers", "trailed"]
    )
    func early(window: Int, course: String) async throws {
        try await Http2Server.run("window=\(window)") { server in
            let transport = server.transport()
            for status in [200, 404] {
                for size in Self.sizes {
                    // Tells how much is let through; and whatever the server had to say on the one before has arrived.
                    #expect(try await send(.get, server.url("/a"), through: transport).status == 200)
                    let url = try server.url("/early/\(status)/\(course)")
                    let answer = try await send(.post, url, body: Self.body(size), through: transport)
                    #expect(answer.status == status)
                    #expect(answer.text == (course == "empty" ? "" : "ok"))
                    #expect(answer.trailers.values(of: "X-Row") == (course.hasPrefix("trail") ? ["1", "2"] : []))
                }
            }
            #expect(try await send(.get, server.url("/a"), through: transport).status == 200)
            let report = try await server.report()
            #expect(report.requests.filter { $0.hasPrefix("POST") }.count == 2 * Self.sizes.count)
            // A frame that comes when nothing is under way costs a connection.
            let isQuiet = ["length", "bare", "empty", "trailers"].contains(course)
            #expect(report.connections == 1 || !isQuiet)
        }
    }

    @Test(
        "may be complete in the same moment as the answer, which libcurl takes for a failure",
        arguments: ["length", "bare", "empty", "trailers"]
    )
    func crossing(course: String) async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            _ = try await send(.get, server.url("/a"), through: transport)
            for _ in 0..<10 {
                let url = try server.url("/late/\(course)/crossing")
                // A part more than the window lets out and libcurl takes ahead, which it sends once it has the answer.
                let answer = try await send(.post, url, body: Self.body(90_000), through: transport)
                #expect(answer.text == (course == "empty" ? "" : "ok"))
                #expect(answer.trailers.values(of: "X-Row") == (course == "trailers" ? ["1", "2"] : []))
            }
            #expect(try await server.report().requests.count == 11)
        }
    }

    @Test("need not have arrived if the server goes after its answer", arguments: sizes)
    func closed(size: Int) async throws {
        try await Http2Server.run("window=1") { server in
            let transport = server.transport()
            _ = try await send(.get, server.url("/a"), through: transport)
            let url = try server.url("/early/200/close")
            #expect(try await send(.post, url, body: Self.body(size), through: transport).text == "ok")
            #expect(try await server.report().requests == ["GET /a", "POST /early/200/close"])
        }
    }

    @Test("lets no answer pass as whole that the server breaks off without an error", arguments: [0, 10, 1_048_576])
    func open(size: Int) async throws {
        try await Http2Server.run("window=1") { server in
            let transport = server.transport()
            _ = try await send(.get, server.url("/a"), through: transport)
            let url = try server.url("/early/200/open")
            let failure = try await failure { try await send(.post, url, body: Self.body(size), through: transport) }
            #expect(failure == .connectionLost)
        }
    }

    @Test("is sent again from its beginning when the server has refused a part of it", arguments: [10, 1_048_576])
    func again(size: Int) async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            for (number, course) in ["refused", "above", "closed"].enumerated() {
                _ = try await send(.get, server.url("/a"), through: transport)
                let url = try server.url("/once/\(course)?sum")
                let answer = try await send(.post, url, body: Self.body(size), through: transport)
                #expect(answer.text == "\(number + 2) \(size)")
            }
        }
    }
}
