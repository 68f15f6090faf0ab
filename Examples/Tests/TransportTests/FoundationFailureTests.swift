import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("Requests that Foundation does not send", .timeLimit(.minutes(10)))
struct FoundationFailureTests {
    @Test(
        "a host that does not exist, or a scheme that is not HTTP: not sent",
        arguments: [("http://nautilus.invalid/", URLError.Code.cannotFindHost), ("ftp://127.0.0.1/", .unsupportedURL)]
    )
    func unusableUrl(text: String, code: URLError.Code) async throws {
        let url = try #require(URL(string: text))
        #expect(try await failure { try await send(.get, url) } == Failure(code: code, delivery: .notSent))
    }

    #if os(Linux)
        // Foundation refuses every IPv6 literal there, server or not; should that end, these become "cannot connect".
        @Test(
            "a request to an IPv6 literal that cannot be reached is not sent",
            arguments: ["http://[::1]:1/", "http://[2001:db8::1]/"]
        )
        func literal(text: String) async throws {
            let url = try #require(URL(string: text))
            let failure = try await failure { try await send(.post, url, body: .data(Data("x".utf8))) }
            #expect(failure == Failure(code: .badURL, delivery: .notSent))
        }
    #else
        @Test("a request to an IPv6 literal where nobody listens is not sent")
        func literal() async throws {
            let url = try #require(URL(string: "http://[::1]:1/"))
            #expect(
                try await failure { try await send(.get, url) }
                    == Failure(code: .cannotConnectToHost, delivery: .notSent)
            )
        }
    #endif

    @Test("a GET with a body, which Foundation does not send, is refused with the reason")
    func getWithBody() async throws {
        try await ScriptedServer.run { _ in
        } whileOpen: { server in
            await #expect(throws: HttpRequest.Invalid.bodyNotAllowed(.get)) {
                try await send(.get, server.url, body: .data(Data("x".utf8)))
            }
            #expect(await server.connectionCount == 0)
        }
    }
}
