import Foundation
import Nautilus
import Testing

@Suite("A refusal over HTTP/2", .timeLimit(.minutes(10)), .whereHttp2Traced)
struct Http2RefusalTests {
    private static let unsent = Failure(code: .networkConnectionLost, delivery: .notSent)
    private static let post = HttpBody.Payload.data(Data("body".utf8))

    @Test(
        "is no execution: what must not run twice is sent once more",
        arguments: ["refused", "above", "closed"],
        [HttpBody.Payload.empty, post]
    )
    func repeated(course: String, body: HttpBody.Payload) async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            _ = try await send(.get, server.url("/a"), through: transport)
            let answer = try await send(.post, server.url("/once/\(course)"), body: body, through: transport)
            #expect(answer.text == "2")
            let report = try await server.report()
            #expect(report.connections == 2)
            #expect(report.requests == ["GET /a"] + Array(repeating: "POST /once/\(course)", count: 2))
        }
    }

    @Test(
        "is told from a loss: what must not run twice is not sent again, and may have been executed",
        arguments: ["lost", "abort", "http1"]
    )
    func lost(course: String) async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            _ = try await send(.get, server.url("/a"), through: transport)
            let url = try server.url("/once/\(course)")
            #expect(try await failure { try await send(.post, url, through: transport) } == .connectionLost)
            #expect(try await server.report().requests == ["GET /a", "POST /once/\(course)"])
        }
    }

    @Test("for ever ends with a failure, not sent", arguments: [HttpMethod.get, .post])
    func always(method: HttpMethod) async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            _ = try await send(.get, server.url("/a"), through: transport)
            let url = try server.url("/refused")
            #expect(try await failure { try await send(method, url, through: transport) } == Self.unsent)
            #expect(try await server.report().requests.count == 7)
        }
    }

    @Test("and a loss after it: sent no third time, and may have been executed")
    func thenLost() async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            _ = try await send(.get, server.url("/a"), through: transport)
            let url = try server.url("/twice")
            #expect(try await failure { try await send(.post, url, through: transport) } == .connectionLost)
            #expect(try await server.report().requests == ["GET /a", "POST /twice", "POST /twice"])
        }
    }

    @Test(
        "of an exchange that is answered in part counts for none, nor do its words in a field",
        arguments: ["refused", "lost"]
    )
    func hinted(course: String) async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            _ = try await send(.get, server.url("/a"), through: transport)
            let url = try server.url("/hinted/\(course)")
            #expect(try await failure { try await send(.post, url, through: transport) } == .connectionLost)
            #expect(try await server.report().requests == ["GET /a", "POST /hinted/\(course)"])
        }
    }

    @Test("of many at once, when a connection is given up, leaves each executed once")
    func many() async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            for number in 1...20 {
                let url = try server.url(number % 2 == 0 ? "/once/above\(number)" : "/a")
                async let first = send(.post, url, through: transport).status
                async let second = send(.post, url, through: transport).status
                let statuses = try await [first, second]
                #expect(statuses == [200, 200])
            }
        }
    }
}
