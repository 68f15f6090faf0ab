import Foundation
import NautilusStreams
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("The status correction of a service", .endsInTime)
struct StatusCorrectionTests {
    private static func expired(_ status: Int) -> StatusCorrection {
        StatusCorrection { $0.status == status ? 401 : nil }
    }

    @Test("F20: a 403 or 419 that means an expired token refreshes once for all calls", arguments: [403, 419, 498])
    func refreshes(status: Int) async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation) { _, isAccepted in isAccepted ? .reply(text: "ok") : .status(status) }
            let service = world.service.with { $0.interceptors = [Self.expired(status)] }
            let results = await atOnce(20) { index in
                await (index.isMultiple(of: 2) ? Ping.get : .post).result(with: service)
            }
            let bodies = results.compactMap { try? $0.get() }
            #expect(bodies == Array(repeating: "ok", count: 20))
            #expect(world.server.refreshCount == 1)
        }
    }

    @Test("F20: without the correction the same status is the call's failure, and with it a scope that is missing")
    func rights() async throws {
        try await simulate { simulation in
            let challenge: HttpHeader = ["WWW-Authenticate": #"Bearer error="insufficient_scope""#]
            let world = TokenWorld(simulation) { _, _ in .status(403, header: challenge) }
            #expect(await world.call().error?.status == 403)
            let service = world.service.with { $0.interceptors = [Self.expired(403)] }
            #expect(await Ping.get.result(with: service).error?.status == 401)
            #expect(world.server.refreshCount == 0)
        }
    }

    @Test("F20: a success whose body is an error is corrected for every request type, and is not decoded")
    func disguised() async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation) { _, isAccepted in .reply(text: isAccepted ? "ok" : "token_expired") }
            let service = world.service.with {
                $0.interceptors = [StatusCorrection { $0.body == Data("token_expired".utf8) ? 401 : nil }]
            }
            let text = try await Ping.get.schedule(with: service)
            let data = try await AnyRequest(.get, ["other"], as: Data.self).schedule(with: service)
            #expect(text == "ok" && data == Data("ok".utf8))
            #expect(world.server.refreshCount == 1)
        }
    }

    @Test("F20: a feed and a body that is read as it arrives refresh by their status as well")
    func streams() async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation) { request, isAccepted in
                guard isAccepted else { return .status(419) }
                guard request.header[.lastEventId] == nil else { return .status(204) }
                return .chunks(
                    header: ["Content-Type": "text/event-stream"],
                    [Data("id: 1\ndata: a\n\n".utf8)],
                    endingWith: nil
                )
            }
            let service = world.service.with {
                $0.interceptors = [Self.expired(419)]
                $0.retrierFactory = .composed(
                    AuthorizationRetrier.factory(world.coordinator),
                    steadyBackoff()
                )
            }
            var events: [String] = []
            for try await event in Ping.get.events(with: service) { events.append(event.data) }
            #expect(events == ["a"])
            #expect(world.server.refreshCount == 1)
        }
    }

    @Test("F20: a status corrected to 503 is retried, counts for a breaker, and the trace keeps the server's own")
    func overload() async throws {
        let transport = ScriptedTransport(.reply(status: 200, text: "busy"), .reply(text: "ok"))
        let busy = StatusCorrection { $0.body == Data("busy".utf8) ? 503 : nil }
        let outcome = try await outcome(of: Ping.get, interceptors: [busy], transport)
        #expect(outcome.response?.body == "ok")
        let first = try #require(outcome.response?.trace.attempts.first)
        #expect(first.outcome == .failed(.validate, .status(503), .maybeExecuted))
        #expect(first.exchanges.map(\.status) == [200])
    }
}
