import Foundation
import Nautilus
import NautilusCaching
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@Suite("QUERY, the safe method with a body (RFC 10008)", .endsInTime)
struct QueryMethodTests {
    private static let question = Ping(method: .query, body: .data(Data("select".utf8)))

    @Test("F9: QUERY is safe and idempotent, and carries a body")
    func rules() async throws {
        #expect(HttpMethod.query.rawValue == "QUERY")
        #expect(HttpMethod.query.isSafe && HttpMethod.query.isIdempotent)
        let transport = ScriptedTransport(.reply(text: "found"))
        let service = AnyHttpService(apiUrl: "api.example.com", transport: transport)
        #expect(try await Self.question.schedule(with: service) == "found")
        #expect(transport.attempts[0].request.method == .query)
        #expect(transport.attempts[0].body == Data("select".utf8))
    }

    @Test("F9: a QUERY that may have been executed is retried with its body, and is given no idempotency key")
    func retried() async throws {
        for failure in [ScriptedReply.status(503), .fail(.networkConnectionLost), .fail(.timedOut)] {
            let transport = ScriptedTransport(failure, .reply(text: "found"))
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [IdempotencyKeys()],
                retrierFactory: BackoffRetrier.factory(.atOnce),
                transport: transport,
                clock: ManualClock()
            )
            #expect(try await Self.question.schedule(with: service) == "found")
            #expect(transport.attempts.map(\.body) == [Data("select".utf8), Data("select".utf8)])
            #expect(transport.attempts.allSatisfy { $0.header[.idempotencyKey] == nil })
        }
    }

    @Test(
        "F9: 301, 302, 307 and 308 send a QUERY on with its body, and 303 turns it into a GET",
        arguments: [301, 302, 303, 307, 308]
    )
    func redirected(status: Int) async throws {
        let transport = ScriptedTransport(.status(status, header: ["Location": "/other"]), .reply(text: "found"))
        let service = AnyHttpService(apiUrl: "api.example.com", transport: transport)
        #expect(try await Self.question.schedule(with: service) == "found")
        let second = try #require(transport.attempts.last)
        #expect(second.request.url.path == "/other")
        #expect(second.request.method == (status == 303 ? .get : .query))
        #expect(second.body == (status == 303 ? nil : Data("select".utf8)))
    }

    @Test("F9: a QUERY is never cached or shared between calls, and empties no cache")
    func cached() async throws {
        let header: HttpHeader = ["Cache-Control": "max-age=60"]
        let transport = ScriptedTransport { request, _ in
            .reply(header: header, text: request.method == .query ? "found" : "listed")
        }
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [HttpCache(), RequestCoalescing()],
            transport: transport,
            clock: ManualClock()
        )
        #expect(try await Ping.get.schedule(with: service) == "listed")
        for _ in 1...2 { #expect(try await Self.question.schedule(with: service) == "found") }
        #expect(try await Ping.get.schedule(with: service) == "listed")
        #expect(transport.attempts.map(\.request.method) == [.get, .query, .query])
    }
}
