import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("Pacing, with a credential that takes time for each request")
struct PacingReadmissionTests {
    /// Its credential takes the longest time, or a random one up to that, as a signature does, or a look into a store.
    private static func slow(
        _ clock: ManualClock,
        _ random: any RandomSource,
        longest: Duration,
        isRandom: Bool
    ) -> AnyRetrierFactory {
        .authorizing(
            with: AwaitedCredential(wait: {
                try await clock.sleep(for: isRandom ? longest * random.nextFraction() : longest)
            })
        )
    }

    private struct World: Sendable {
        let clock: ManualClock
        let transport: ScriptedTransport
        let service: AnyHttpService<HttpError>

        init(
            _ simulation: Simulated,
            _ pacing: Pacing,
            taking longest: Duration,
            isRandom: Bool = false,
            isBusyAtFirst: Bool = false,
            answering latency: Duration = .zero
        ) {
            clock = simulation.clock
            let count = Counter()
            transport = ScriptedTransport(clock: simulation.clock) { _, _ in
                let isBusy = count.increment() == 1 && isBusyAtFirst
                return .delay(latency, then: isBusy ? .status(503, header: [.retryAfter: "86400"]) : .status(200))
            }
            service = AnyHttpService(
                apiUrl: "a.com",
                interceptors: [pacing],
                retrierFactory: PacingReadmissionTests.slow(
                    simulation.clock,
                    simulation.random,
                    longest: longest,
                    isRandom: isRandom
                ),
                transport: transport,
                clock: simulation.clock
            )
        }

        /// Calls again and again, and counts the requests that were sent.
        func count(calls: Int, every interval: Duration, deadline: Duration? = nil) async throws -> Int {
            for _ in 0..<calls {
                try? await AnyRequest(.get, ["a"]).with { $0.deadline = deadline }.schedule(with: service)
                try await clock.sleep(for: interval)
            }
            return transport.count
        }
    }

    @Test(
        "pacing with a slow credential keeps its rate, and reaches it",
        arguments: [1, 10, 50, 90, 150],
        [true, false]
    )
    func crowd(milliseconds: Int, isRandom: Bool) async throws {
        let starts = try await simulate(seed: UInt64(milliseconds)) { simulation in
            let pacing = Pacing(
                rate: .requests(5, per: .seconds(1)),
                clock: simulation.clock,
                random: simulation.random
            )
            let longest = Duration.milliseconds(milliseconds)
            let world = World(simulation, pacing, taking: longest, isRandom: isRandom)
            await withTaskGroup(of: Void.self) { group in
                for _ in 1...60 {
                    group.addTask { try? await AnyRequest(.get, ["a"]).schedule(with: world.service) }
                }
            }
            return world.transport.attempts.map(\.start).sorted()
        }
        #expect(starts.count == 60)
        // A credential that takes up to 5 ms is not looked at again, and counts from when its request goes out.
        #expect(zip(starts, starts.dropFirst(5)).allSatisfy { $1 - $0 >= .seconds(1) })
        #expect(starts.last.map { $0 < .seconds(14) } == true)
    }

    @Test("pacing keeps its rate with a credential that takes long, too", arguments: 1...20 as ClosedRange<UInt64>)
    func slowest(seed: UInt64) async throws {
        let starts = try await simulate(seed: seed) { simulation in
            let clock = simulation.clock
            let pacing = Pacing(rate: .requests(5, per: .seconds(1)), clock: clock, random: simulation.random)
            let world = World(simulation, pacing, taking: .seconds(2), isRandom: true)
            await withTaskGroup(of: Void.self) { group in
                for number in 1...60 {
                    group.addTask {
                        try? await clock.sleep(for: .milliseconds(300 * number))
                        try? await AnyRequest(.get, ["a"]).schedule(with: world.service)
                    }
                }
            }
            return world.transport.attempts.map(\.start).sorted()
        }
        #expect(starts.count == 60)
        #expect(zip(starts, starts.dropFirst(5)).allSatisfy { $1 - $0 >= .seconds(1) })
    }

    @Test("a request counts from when it goes out, though its credential has taken too little to be looked at again")
    func shortAuthorization() async throws {
        let starts = try await simulate { simulation in
            let clock = simulation.clock
            let pacing = Pacing(rate: .requests(1, per: .seconds(1)), clock: clock, random: simulation.random)
            let first = FixedRandomSource(1, 0)
            let retrier = Self.slow(clock, first, longest: .milliseconds(5), isRandom: true)
            let world = World(simulation, pacing, taking: .zero)
            let service = world.service.with { $0.retrierFactory = retrier }
            try await AnyRequest(.get, ["a"]).schedule(with: service)
            try await clock.sleep(for: .milliseconds(995))
            try await AnyRequest(.get, ["a"]).schedule(with: service)
            return world.transport.attempts.map(\.start)
        }
        #expect(starts.first == .milliseconds(5))
        #expect(starts.last.map { $0 >= .milliseconds(1_005) && $0 < .milliseconds(1_025) } == true)
    }

    @Test(
        "pacing with a slow credential sends what may be sent at once",
        arguments: [.zero, .milliseconds(10), .seconds(1)] as [Duration]
    )
    func idle(longest: Duration) async throws {
        let counts = try await simulate { simulation in
            let (clock, random) = (simulation.clock, simulation.random)
            let slow = RequestRate.requests(1, per: .seconds(10))
            let waiting = Pacing(rate: slow, clock: clock, random: random)
            let refusing = Pacing(rate: slow, maxWaiting: 0, clock: clock, random: random)
            let slowest = Pacing(rate: .requests(1, per: .seconds(90)), clock: clock, random: random)
            return [
                try await World(simulation, waiting, taking: longest)
                    .count(calls: 10, every: .seconds(20), deadline: .seconds(5)),
                try await World(simulation, refusing, taking: longest).count(calls: 10, every: .seconds(20)),
                try await World(simulation, slowest, taking: longest).count(calls: 10, every: .seconds(100)),
            ]
        }
        #expect(counts == [10, 10, 10])
    }

    /// Sends three subrequests.
    private struct Subrequests: CallInterceptor {
        func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
            for _ in 1...3 { _ = try await context.send(request) }
            return try await next(request)
        }
    }

    @Test("pacing with a slow credential keeps its rate with subrequests", arguments: 1...20 as ClosedRange<UInt64>)
    func subrequests(seed: UInt64) async throws {
        let starts = try await simulate(seed: seed) { simulation in
            let pacing = Pacing(
                rate: .requests(5, per: .seconds(1)),
                clock: simulation.clock,
                random: simulation.random
            )
            let world = World(simulation, pacing, taking: .milliseconds(50), isRandom: true)
            let service = world.service.with { $0.interceptors.insert(Subrequests(), at: 0) }
            await withTaskGroup(of: Void.self) { group in
                for _ in 1...6 { group.addTask { try? await AnyRequest(.get, ["a"]).schedule(with: service) } }
            }
            return world.transport.attempts.map(\.start).sorted()
        }
        #expect(starts.count == 24)
        #expect(zip(starts, starts.dropFirst(5)).allSatisfy { $1 - $0 >= .seconds(1) })
    }

    @Test(
        "pacing with a slow credential asks the server nevertheless, once a minute",
        arguments: [.zero, .milliseconds(10)] as [Duration]
    )
    func probe(longest: Duration) async throws {
        let count = try await simulate { simulation in
            let pacing = Pacing(clock: simulation.clock, random: simulation.random)
            return try await World(simulation, pacing, taking: longest, isBusyAtFirst: true)
                .count(calls: 60, every: .seconds(10))
        }
        // The first, the one after a minute, and all after that.
        #expect(count == 55)
    }

    /// Names the partition of a request that has passed the pacing.
    private struct Naming: NetworkInterceptor {
        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            var request = request
            request.header["X-User"] = "anna"
            return try await next(request)
        }
    }

    @Test("a request stays in its partition, though a later interceptor names another")
    func renamed() async throws {
        let (starts, underWay) = try await simulate { simulation in
            let pacing = Pacing(
                rate: .requests(3, per: .seconds(30)),
                partition: { $0.header["X-User"] ?? "" },
                clock: simulation.clock,
                random: simulation.random
            )
            let world = World(simulation, pacing, taking: .milliseconds(50))
            let service = world.service.with { $0.interceptors.append(Naming()) }
            for _ in 1...4 { try await AnyRequest(.get, ["a"]).schedule(with: service) }
            let origin = try #require(world.transport.attempts.first?.request.origin)
            return (world.transport.attempts.map(\.start), pacing.parts.withLock { $0.underWayCount(for: origin) })
        }
        #expect(starts.prefix(3) == [.milliseconds(50), .milliseconds(100), .milliseconds(150)])
        #expect(starts.last.map { $0 >= .seconds(30) && $0 < .seconds(31) } == true)
        #expect(underWay == 0)
    }

    @Test("a second send counts in its request's partition, though a later interceptor names another")
    func renamedSecondSend() async throws {
        let starts = try await simulate { simulation in
            let pacing = Pacing(
                rate: .requests(3, per: .seconds(30)),
                partition: { $0.header["X-User"] ?? "" },
                clock: simulation.clock,
                random: simulation.random
            )
            let world = World(simulation, pacing, taking: .zero, answering: .seconds(1))
            let service = world.service.with {
                $0.retrierFactory = .never
                $0.interceptors.append(Naming())
                $0.interceptors.append(Hedging(after: .fixed(.milliseconds(100)), budget: .unlimited))
            }
            for _ in 1...3 { try await AnyRequest(.get, ["a"]).schedule(with: service) }
            return world.transport.attempts.map(\.start)
        }
        // The first is sent twice, the second has only one left, and the third waits.
        #expect(starts.prefix(3) == [.zero, .milliseconds(100), .seconds(1)])
        #expect(starts.dropFirst(3).allSatisfy { $0 >= .seconds(30) })
        #expect(starts.count >= 4)
    }

    @Test("pacing with a slow credential forgets no partition's rate, however many there are")
    func partitions() async throws {
        let counts = try await simulate { simulation in
            let pacing = Pacing(
                rate: .requests(1, per: .seconds(3_600)),
                partition: { $0.url.path },
                clock: simulation.clock,
                random: simulation.random
            )
            let world = World(simulation, pacing, taking: .zero)
            var counts: [Int] = []
            for _ in 1...3 {
                for user in 1...1_100 {
                    try? await AnyRequest(.get, ["users", user]).schedule(with: world.service)
                }
                counts.append(world.transport.count)
                if counts.count == 2 { try await simulation.clock.sleep(for: .seconds(3_600)) }
            }
            return counts
        }
        #expect(counts == [1_100, 1_100, 2_200])
    }
}
