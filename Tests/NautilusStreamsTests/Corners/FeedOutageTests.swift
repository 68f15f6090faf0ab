import Foundation
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("Feeds during an outage of the server", .endsInTime)
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
            // Retry-After is honoured, each time.
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
            for index in tries.indices.dropFirst() { #expect(tries[index] != tries[index - 1]) }
            // Once the delays have grown, few come in any second of the server's return.
            #expect(crowd(tries.filter { $0 > .seconds(30) }) <= 12)
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

    @Test("F25: the deadline of a request bounds each try of its event stream to reconnect, and does not end it")
    func deadline() async throws {
        try await simulate { simulation in
            let server = FeedServer(simulation.clock, downIn: .seconds(5)..<(.seconds(65)), .silent)
            let numbers = try await readFeed(to: 100, from: server, on: simulation.clock, deadline: .seconds(2))
            #expect(numbers == Array(1...100))
        }
    }

    @Test(
        "F25: a try to reconnect is repeated at once only if the retrier has mended its request, and else after a delay",
        arguments: [(401, 0, 2), (401, -1, 2), (401, 1, 5), (503, 0, 4), (503, 3, 7)]
    )
    func repeated(status: Int, delay: Int, last: Int) async throws {
        try await simulate { simulation in
            let text = ScriptedReply.chunks(
                header: [.contentType: "text/event-stream"],
                [Data("retry: 2000\nid: 1\ndata: 1\n\n".utf8)]
            )
            let transport = ScriptedTransport(text, .status(status), text, clock: simulation.clock)
            let service = AnyHttpService(
                apiUrl: "a.com",
                retrierFactory: ScriptedRetrier.factory { _, error in
                    .retry(after: error.status == status ? .seconds(delay) : .zero)
                },
                transport: transport,
                clock: simulation.clock
            )
            var events = Ping.get.events(with: service).makeAsyncIterator()
            for _ in 0..<2 { _ = try await events.next() }
            // The server's two seconds are part of each delay.
            #expect(transport.attempts.map(\.start) == [0, 2, last].map { .seconds($0) })
        }
    }
}
