import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("The end of a feed", .endsInTime)
struct FeedEndTests {
    private static let header: HttpHeader = [.contentType: "text/event-stream"]
    private static let event = ScriptedReply.chunks(header: header, [Data("data: a\n\n".utf8)])

    /// Reads an event, then what follows the end of its connection.
    private func second(
        _ replies: [ScriptedReply],
        limit: ReconnectLimit = .none,
        jitter: Backoff.Jitter = .none
    ) async throws -> (ended: String, HttpError?, starts: [Duration]) {
        try await simulate { simulation in
            let transport = numbered(simulation.clock) { _, index in
                index == 0 ? Self.event : replies[min(index - 1, replies.count - 1)]
            }
            let service = AnyHttpService(
                apiUrl: "a.com",
                retrierFactory: BackoffRetrier.factory(.standard.with { $0.backoff = .exponential(jitter: jitter) }),
                transport: transport,
                clock: simulation.clock
            )
            var events = Ping.get.events(with: service, reconnectLimit: limit).makeAsyncIterator()
            _ = try await events.next()
            do throws(HttpError) {
                let event = try await events.next()
                return (event.map(\.data) ?? "nil", nil, transport.attempts.map(\.start))
            } catch {
                return ("\(error.kind)", error, transport.attempts.map(\.start))
            }
        }
    }

    @Test(
        "F25: an answer by which the server means it ends an event stream that was open",
        arguments: [400, 402, 403, 404, 405, 406, 409, 410, 422, 451, 499, 501, 201, 304]
    )
    func final(status: Int) async throws {
        let (ended, error, starts) = try await second([.status(status), Self.event])
        #expect(ended == "status \(status)")
        #expect(error?.trace.attempts.last?.decision?.action == .stop)
        #expect(starts.count == 2)
    }

    @Test("F25: 204 ends an event stream in silence; another content type and a failure of TLS end it with an error")
    func otherEnds() async throws {
        #expect(try await second([.status(204), Self.event]).ended == "nil")
        let page = ScriptedReply.chunks(header: [.contentType: "text/html"], [Data("down".utf8)])
        #expect(try await second([page, Self.event]).1?.underlying is ServerSentEvent.NoStream)
        let tls = try await second([.fail(.serverCertificateUntrusted), Self.event])
        #expect(tls.1?.kind == .transport(.serverCertificateUntrusted))
        #expect(tls.starts.count == 2)
    }

    @Test("F25: the first connection of an event stream keeps the rules of calls")
    func first() async throws {
        try await simulate { simulation in
            let transport = ScriptedTransport(clock: simulation.clock) { _, _ in .status(503) }
            let service = AnyHttpService(
                apiUrl: "a.com",
                retrierFactory: BackoffRetrier.factory(),
                transport: transport,
                clock: simulation.clock
            )
            let error = await #expect(throws: HttpError.self) {
                for try await _ in Ping.get.events(with: service) {}
            }
            #expect(error?.trace.attempts.last?.decision?.reason == .attemptsUsed(4))
            #expect(transport.count == 4)
        }
    }

    @Test("F25: a reconnect limit of three tries, of none, and of a time ends an event stream, and its trace says so")
    func limits() async throws {
        let three = try await second([.status(503)], limit: .attempts(3))
        #expect(three.starts == [0, 500, 1_500, 3_500].map { .milliseconds($0) })
        #expect(three.1?.kind == .status(503))
        let reason = three.1?.trace.attempts.last?.decision?.reason
        #expect(reason == .custom("reconnect limit: 3 connections in a row"))
        let none = try await second([Self.event], limit: .attempts(0))
        #expect(none.1?.kind == .transport(.networkConnectionLost))
        #expect(none.starts.count == 1)
        let timed = try await second([.status(503)], limit: .time(.seconds(10)))
        #expect(timed.starts.count == 5)
        #expect(timed.1?.trace.attempts.last?.decision?.reason == .custom("reconnect limit: 10 s after the loss"))
    }

    /// What a token endpoint that is down throws: no connection, and pages of others in its place.
    private static let outages: [any Error] = [
        TransportError(.cannotConnectToHost),
        HttpError(.decoding, stage: .decode),
        HttpError(.status(403), stage: .validate),
        HttpError(.status(404), stage: .validate),
    ]

    @Test(
        "F25: an outage of the token endpoint during that of the server ends no event stream",
        arguments: outages.indices
    )
    func refresh(index: Int) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: clock) { token in
                if clock.now.offset < .seconds(300) { throw Self.outages[index] }
                return Token(number: token.number + 1)
            }
            let transport = numbered(clock) { request, index in
                if index == 0 { return Self.event }
                return request.header[.authorization] == "Bearer token-1" ? .status(401) : Self.event
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: .composed(
                    AuthorizationRetrier.factory(coordinator),
                    BackoffRetrier.factory()
                ),
                transport: transport,
                clock: clock
            )
            var events = Ping.get.events(with: service).makeAsyncIterator()
            _ = try await events.next()
            let event = try await events.next()
            #expect(event?.data == "a")
            #expect(clock.now.offset >= .seconds(300))
        }
    }

    @Test(
        "F25: the end of the session ends an event stream in the middle of an outage",
        arguments: SessionEnding.allCases
    )
    func session(ending: SessionEnding) async throws {
        try await simulate { simulation in
            let isExpiry = ending == .expiry || ending == .expiryElsewhere
            let world = OneSessionWorld(simulation, expires: isExpiry)
            let transport = numbered(world.clock) { _, index in index == 0 ? Self.event : .status(503) }
            var events = Ping.get.events(with: world.service(transport)).makeAsyncIterator()
            _ = try await events.next()
            simulation.start {
                try? await world.sleep(.milliseconds(100_250))
                await world.end(ending)
            }
            let result = await end { try await events.next() }
            #expect(result == ending.error)
            #expect(world.clock.now.offset == .milliseconds(100_250))
        }
    }
}
