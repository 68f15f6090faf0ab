import Foundation
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusStreams

@Suite("A feed lives through an outage of its server", .endsInTime)
struct FeedOutageTests {
    /// Few attempts, and a budget that is empty.
    private static let poor = BackoffRetrier.Configuration.standard.with {
        $0.maxAttempts = 2
        $0.budget = .shared(TokenBucketBudget(capacity: 0))
    }

    @Test(
        "F25: an event stream outlasts an outage of any length, is back within the longest delay, and misses no event",
        arguments: [1, 10, 600, 3600] as [Int64],
        [0, 1, 2] as [UInt64]
    )
    func outage(seconds: Int64, seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let end = Duration.seconds(5 + seconds)
            let server = FeedServer(simulation.clock, downIn: .seconds(5)..<end)
            let numbers = try await readFeed(to: Int(seconds) + 60, from: server, on: simulation.clock, Self.poor)
            #expect(numbers == Array(1...Int(seconds) + 60))
            let starts = server.starts
            let last = try #require(starts.last)
            #expect(last >= end && last < end + .seconds(20))
            // A burst of five, and a second apart in the long run; the drawn delays make it far fewer.
            #expect(starts.count <= 2 + 5 + Int(seconds) / 4)
        }
    }

    @Test("F25: each try of an event stream to reconnect follows a delay of the schedule, which grows to 30 s")
    func delays() async throws {
        try await simulate { simulation in
            let server = FeedServer(simulation.clock, downIn: .seconds(5)..<(.seconds(150)))
            let policy = Self.poor.with { $0.backoff = .exponential(cap: .seconds(300), jitter: .none) }
            _ = try await readFeed(to: 200, from: server, on: simulation.clock, policy)
            let tries = zip(server.starts.dropFirst(), server.starts).map { $0 - $1 }
            let doubled = [0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30].map { Duration.milliseconds(Int($0 * 1000)) }
            #expect(tries == [.milliseconds(5_500)] + doubled.dropFirst())
            #expect(server.lastEventIds == [nil] + Array(repeating: "4", count: 10))
        }
    }

    @Test(
        "F25: whatever a server in trouble does, an event stream goes on trying",
        arguments: FeedServer.Trouble.allCases
    )
    func troubles(trouble: FeedServer.Trouble) async throws {
        try await simulate { simulation in
            let server = FeedServer(simulation.clock, downIn: .seconds(5)..<(.seconds(300)), trouble)
            let numbers = try await readFeed(to: 340, from: server, on: simulation.clock, Self.poor)
            #expect(numbers == Array(1...340))
            let delays = zip(server.starts.dropFirst(2), server.starts.dropFirst()).map { $0 - $1 }
            // Retry-After is heeded, each time.
            if trouble == .overloaded { #expect(delays.allSatisfy { $0 >= .seconds(3) }) }
            #expect(server.starts.count < 80)
        }
    }

    @Test("F25: a Retry-After over the cap of calls, and a retry: of the server, are waited for by an event stream")
    func hints() async throws {
        try await simulate { simulation in
            let text = ScriptedReply.chunks(
                header: [.contentType: "text/event-stream"],
                [Data("retry: 2000\nid: 1\ndata: 1\n\n".utf8)]
            )
            let transport = ScriptedTransport(
                text,
                .status(503, header: [.retryAfter: "600"]),
                .status(503),
                text,
                clock: simulation.clock
            )
            let policy = Self.poor.with { $0.backoff = .exponential(jitter: .none) }
            var events = Ping.get.events(
                with: AnyHttpService(
                    apiUrl: "a.com",
                    retrierFactory: BackoffRetrier.factory(policy),
                    transport: transport,
                    clock: simulation.clock
                )
            ).makeAsyncIterator()
            for _ in 0..<2 { _ = try await events.next() }
            // The server's two seconds come on top of 0.5 s, 600 s and 2 s.
            #expect(transport.attempts.map(\.start) == [0, 2_500, 604_500, 608_500].map { .milliseconds($0) })
        }
    }

    @Test(
        "F25: a hundred event streams come back one after the other, and share no moment",
        arguments: ["", "retry: 3000\n"],
        [0, 1, 2] as [UInt64]
    )
    func hundred(preamble: String, seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let clock = simulation.clock
            let server = FeedServer(clock, downIn: .seconds(5)..<(.seconds(65)), preamble: preamble)
            try await withThrowingTaskGroup(of: [Int].self) { group in
                for _ in 0..<100 {
                    group.addTask { try await readFeed(to: 100, from: server, on: clock) }
                }
                for try await numbers in group { #expect(numbers == Array(1...100)) }
            }
            let tries = server.starts.dropFirst(100)
            #expect(crowd(Array(tries)) < 40)
            // Once the delays have grown, few come in any second of the server's return.
            #expect(crowd(tries.filter { $0 > .seconds(30) }) <= 8)
        }
    }

    @Test("F25: refusals by a breaker and by pacing count as an event stream's waiting", arguments: [0, 1] as [UInt64])
    func guarded(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let clock = simulation.clock
            let server = FeedServer(clock, downIn: .seconds(5)..<(.seconds(605)), .overloaded)
            let guards: [any HttpInterceptor] = [
                Pacing(maxWaiting: 0, clock: clock),
                CircuitBreaker(limits: CircuitLimits(minimumThroughput: 2), clock: clock),
            ]
            let numbers = try await readFeed(to: 700, from: server, on: clock, Self.poor, interceptors: guards)
            #expect(numbers == Array(1...700))
        }
    }

    @Test("F25: a deadline of the service bounds each try of an event stream to reconnect, and does not end it")
    func deadline() async throws {
        try await simulate { simulation in
            let server = FeedServer(simulation.clock, downIn: .seconds(5)..<(.seconds(65)), .silent)
            let numbers = try await readFeed(to: 100, from: server, on: simulation.clock, deadline: .seconds(2))
            #expect(numbers == Array(1...100))
        }
    }
}

@Suite("What ends a feed", .endsInTime)
struct FeedEndTests {
    private static let header: HttpHeader = [.contentType: "text/event-stream"]
    private static let event = ScriptedReply.chunks(header: header, [Data("data: a\n\n".utf8)])

    /// Reads an event, then what follows the end of its connection.
    private func second(
        _ replies: [ScriptedReply],
        limit: ReconnectLimit = .none,
        jitter: Jitter = .none
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
            do {
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
        #expect(try await second([page, Self.event]).1?.underlying is NoEventStream)
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

    @Test("F25: an outage of the token endpoint during that of the server ends no event stream")
    func refresh() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: clock) { token in
                if clock.now.offset < .seconds(300) { throw TransportError(.cannotConnectToHost) }
                return Token(number: token.number + 1)
            }
            let transport = numbered(clock) { request, index in
                if index == 0 { return Self.event }
                return request.header[.authorization] == "Bearer token-1" ? .status(401) : Self.event
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: ComposedRetrier.factory(
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
