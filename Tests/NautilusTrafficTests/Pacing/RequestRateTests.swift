import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("A rate of the client's own")
struct RequestRateTests {
    /// Calls through a pacing that has only its rate at first.
    private struct World: Sendable {
        let transport: ScriptedTransport
        let service: AnyHttpService<HttpError>

        init(
            _ simulation: Simulated,
            _ rate: RequestRate,
            partition: (@Sendable (HttpRequest) -> String)? = nil,
            reply: ScriptedReply = .status(200),
            retrier: @escaping @Sendable () -> any Retrier = { NilRetrier() }
        ) {
            transport = ScriptedTransport(reply, afterLast: .repeat, clock: simulation.clock)
            let pacing = Pacing(rate: rate, partition: partition, clock: simulation.clock, random: simulation.random)
            service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [pacing],
                retrierFactory: AnyRetrierFactory { retrier() },
                transport: transport,
                clock: simulation.clock
            )
        }

        /// Sends all at once, and waits for their answers.
        func send(_ paths: [String]) async {
            await withTaskGroup(of: Void.self) { group in
                for path in paths { group.addTask { _ = await kind(path) } }
            }
        }

        /// The failure of a call; nil when it has none.
        func kind(_ path: String, deadline: Duration? = nil) async -> FailureKind? {
            do throws(HttpError) {
                let request = AnyRequest(.get, [path]).with { $0.deadline = deadline }
                try await request.schedule(with: service)
                return nil
            } catch {
                return error.kind
            }
        }

        func starts(at path: String) -> [Duration] {
            transport.attempts.filter { $0.request.url.path.hasSuffix(path) }.map(\.start)
        }
    }

    private static let ns = Duration.nanoseconds(1)

    @Test("a client's own rate lets so many go in a time, and the next when the first is as long ago")
    func slots() {
        var starts = RecentStarts(.requests(3, per: .seconds(10)))
        #expect(
            (0...7).map { starts.slot(ahead: $0, at: .seconds(1)) }
                == [1, 1, 1, 11, 11, 11, 21, 21].map { .seconds($0) }
        )
        for time in [1, 4] { starts.note(.seconds(time)) }
        #expect((0...4).map { starts.slot(ahead: $0, at: .seconds(5)) } == [5, 11, 14, 15, 21].map { .seconds($0) })
        for time in [5, 11] { starts.note(.seconds(time)) }
        #expect((0...3).map { starts.slot(ahead: $0, at: .seconds(11)) } == [14, 15, 21, 24].map { .seconds($0) })
        #expect(starts.slot(ahead: 0, at: .seconds(90)) == .seconds(90))
        #expect(starts.lastEnd == .seconds(21))
    }

    @Test("a client's own rate takes back a request that has not gone after all")
    func takenBack() {
        var starts = RecentStarts(.requests(3, per: .seconds(10)))
        for time in [1, 4, 5, 11] { starts.note(.seconds(time)) }
        starts.remove(.seconds(1))
        #expect((0...2).map { starts.slot(ahead: $0, at: .seconds(11)) } == [14, 15, 21].map { .seconds($0) })
        starts.remove(.seconds(5))
        #expect((0...3).map { starts.slot(ahead: $0, at: .seconds(11)) } == [11, 14, 21, 21].map { .seconds($0) })
        starts.note(.seconds(12))
        #expect((0...2).map { starts.slot(ahead: $0, at: .seconds(12)) } == [14, 21, 22].map { .seconds($0) })
    }

    @Test("a client's own rate takes a value that makes no sense for the nearest valid one")
    func limits() {
        #expect(RequestRate.requests(0, per: .seconds(1)).count == 1)
        #expect(RequestRate.requests(5, per: .seconds(-1)).period == Self.ns)
        let many = RequestRate.requests(100_000, per: .seconds(3_600))
        #expect(many.count == 10_000)
        #expect(many.period == .seconds(360))
    }

    @Test("a client's own rate is reached where it is faster than a queue is released otherwise")
    func fast() async throws {
        let starts = try await simulate { simulation in
            let world = World(simulation, .requests(100, per: .seconds(1)))
            await world.send(Array(repeating: "a", count: 200))
            return world.starts(at: "a")
        }
        #expect(starts.last.map { $0 >= .seconds(1) && $0 <= .seconds(2) } == true)
    }

    @Test("a client's own rate lets a refresh request go at once if a slot is free, while others wait")
    func urgent() {
        var machine = PaceMachine<NamedWaiter>(
            rules: PaceRules(
                maxWaiting: 1,
                maxWait: .seconds(60),
                interval: .seconds(1),
                rate: .requests(2, per: .seconds(1))
            )
        )
        let (usual, urgent) = (PaceAsker(remaining: nil, isUrgent: false), PaceAsker(remaining: nil, isUrgent: true))
        for _ in 1...2 { #expect(machine.ask(usual, at: .zero) != .wait) }
        #expect(machine.ask(usual, at: .zero) == .wait)
        machine.wait(.init(waiter: NamedWaiter("usual"), start: .zero, asker: usual), draw: 1)
        #expect(machine.ask(usual, at: .zero) == .refuse(.tooManyWaiting(limit: 1)))
        #expect(machine.ask(urgent, at: .zero) == .wait)
        #expect(machine.ask(urgent, at: .seconds(1)) == .go(number: 3))
        #expect(machine.ask(usual, at: .seconds(1)) == .refuse(.tooManyWaiting(limit: 1)))
    }

    @Test(
        "with a client's own rate, as many wait as may go within the longest wait, by default",
        arguments: [
            (5, 60, nil, 300), (1, 60, nil, 100), (5, 60, 7, 7), (1_000_000, .max, nil, 1_000_000),
        ] as [(Int, Int, Int?, Int)]
    )
    func queue(count: Int, maxWait: Int, given: Int?, expected: Int) {
        let rules = PaceRules(
            maxWaiting: given,
            maxWait: .seconds(maxWait),
            interval: .zero,
            rate: .requests(count, per: .seconds(1))
        )
        #expect(rules.maxWaiting == expected)
    }

    @Test("a rate of the client's own is kept by each partition for itself, and beside what the server says")
    func besideTheServer() async throws {
        let starts = try await simulate { simulation in
            let wait = ScriptedReply.status(429, header: [.retryAfter: "9"])
            let world = World(simulation, .requests(2, per: .seconds(1)), partition: \.url.path, reply: wait)
            await world.send(["a", "a", "b"])
            await world.send(["a", "b"])
            return ["a", "b"].map { world.starts(at: $0) }
        }
        for starts in starts { #expect(starts.dropLast().allSatisfy { $0 == .zero }) }
        #expect(starts.map(\.count) == [3, 2])
        #expect(starts.allSatisfy { $0.last.map { $0 >= .seconds(9) && $0 < .milliseconds(9_020) } == true })
    }

    @Test("a rate of the client's own refuses at once whose slot comes after its deadline, to the nanosecond")
    func deadline() async throws {
        let kinds = try await simulate { simulation in
            let world = World(simulation, .requests(2, per: .seconds(1)))
            await world.send(["a", "a"])
            return [
                await world.kind("a", deadline: .seconds(1)),
                await world.kind("a", deadline: .seconds(1) + .milliseconds(20)),
            ]
        }
        #expect(kinds.map { $0.map { "\($0)".hasPrefix("not sent: ") } } == [true, nil])
    }

    @Test(
        "a rate of the client's own is never exceeded, and nobody waits for longer than it asks for",
        arguments: 1...20 as ClosedRange<UInt64>
    )
    func crowd(seed: UInt64) async throws {
        let starts = try await simulate(seed: seed) { simulation in
            let world = World(simulation, .requests(5, per: .seconds(1)))
            await world.send(Array(repeating: "a", count: 60))
            return world.starts(at: "a")
        }
        #expect(starts.count == 60)
        #expect(zip(starts, starts.dropFirst(5)).allSatisfy { $1 - $0 >= .seconds(1) })
        // Eleven times five wait for a second, and each is released within its slot of 20 ms.
        #expect(starts.last.map { $0 >= .seconds(11) && $0 < .seconds(11) + .milliseconds(60 * 20) } == true)
    }

    @Test("a rate of the client's own is kept by a crowd that has waited for one refresh, too")
    func afterRefresh() async throws {
        let starts = try await simulate { simulation in
            let clock = simulation.clock
            let world = World(simulation, .requests(5, per: .seconds(1)), retrier: { LateCredential(clock: clock) })
            await world.send(Array(repeating: "a", count: 20))
            return world.starts(at: "a")
        }
        #expect(starts.count == 20)
        #expect(starts.allSatisfy { $0 >= .seconds(5) })
        #expect(zip(starts, starts.dropFirst(5)).allSatisfy { $1 - $0 >= .seconds(1) })
    }

    @Test("a request that has waited for its credential has one place in the end, and not two")
    func placeGivenBack() async throws {
        let starts = try await simulate { simulation in
            let clock = simulation.clock
            // One is left, as long as none is under way.
            let reply = ScriptedReply.status(
                200,
                header: ["RateLimit-Limit": "3", "RateLimit-Remaining": "1", "RateLimit-Reset": "60"]
            )
            let world = World(simulation, .requests(100, per: .seconds(1)), reply: reply) {
                LateCredential(clock: clock)
            }
            for _ in 1...6 { await world.send(["a"]) }
            return world.starts(at: "a")
        }
        #expect(starts.count == 6)
        #expect(starts.allSatisfy { $0 < .seconds(6) })
    }

    @Test("a crowd that has waited for its credential goes as far as a limit leaves, which has become known meanwhile")
    func limitMeanwhile() async throws {
        let starts = try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in
                guard request.url.path == "/first" else { return .status(200) }
                return .status(
                    200,
                    header: ["RateLimit-Limit": "9", "RateLimit-Remaining": "3", "RateLimit-Reset": "60"]
                )
            }
            let pacing = Pacing(clock: clock, random: simulation.random)
            let (base, late) = servicesWithLateCredential(behind: pacing, over: transport, on: clock)
            await withTaskGroup(of: Void.self) { group in
                for _ in 1...5 { group.addTask { try? await AnyRequest(.get, ["a"]).schedule(with: late) } }
                group.addTask {
                    try? await clock.sleep(for: .seconds(1))
                    try? await AnyRequest(.get, ["first"]).schedule(with: base)
                }
            }
            #expect(pacing.parts.withLock { $0.underWayCount(for: trafficOrigin) } == 0)
            return transport.attempts.filter { $0.request.url.path == "/a" }.map(\.start)
        }
        #expect(starts.prefix(3).allSatisfy { $0 >= .seconds(5) && $0 < .seconds(6) })
        #expect(starts.dropFirst(3).allSatisfy { $0 >= .seconds(61) })
        #expect(starts.count == 5)
    }

    @Test("a request that is refused at its second look has no place any more")
    func refusedAtSecondLook() async throws {
        let count = try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(.status(429, header: [.retryAfter: "60"]), clock: clock)
            let pacing = Pacing(maxWait: .seconds(9), clock: clock, random: simulation.random)
            let (base, late) = servicesWithLateCredential(behind: pacing, over: transport, on: clock)
            async let refused = failureOfOneCall(of: late)
            _ = await failureOfOneCall(of: base)
            #expect(await refused.map { "\($0)".hasPrefix("not sent: ") } == true)
            #expect(transport.count == 1)
            return pacing.parts.withLock { $0.underWayCount(for: trafficOrigin) }
        }
        #expect(count == 0)
    }

    @Test("a client's own rate lets refresh requests go first, since others wait for the credential")
    func refreshFirst() async throws {
        let attempts = try await simulate { simulation in
            let transport = ScriptedTransport(clock: simulation.clock) { request, _ in
                let isAccepted = request.url.path == "/renew" || request.header[.authorization] == "2"
                return .delay(.milliseconds(100), then: .status(isAccepted ? 200 : 401))
            }
            let pacing = Pacing(
                rate: .requests(5, per: .seconds(1)),
                clock: simulation.clock,
                random: simulation.random
            )
            let base = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [pacing],
                transport: transport,
                clock: simulation.clock
            )
            let coordinator = RefreshCoordinator(credential: 1, clock: simulation.clock) { _ in
                try await AnyRequest(.post, ["renew"]).schedule(with: base)
                return 2
            }
            let service = base.with {
                $0.retrierFactory = coordinator.authorization { $1.header[.authorization] = "\($0)" }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...30 { group.addTask { try await AnyRequest(.get, ["a"]).schedule(with: service) } }
                try await group.waitForAll()
            }
            return transport.attempts
        }
        let refreshes = attempts.enumerated().filter { $1.request.url.path == "/renew" }
        #expect(refreshes.map(\.offset) == [5])
        #expect(refreshes.allSatisfy { $0.element.start < .milliseconds(1_020) })
        // The first five were rejected; all others went out with the new credential.
        #expect(attempts.filter { $0.header[.authorization] == "1" }.count == 5)
        #expect(zip(attempts, attempts.dropFirst(5)).allSatisfy { $1.start - $0.start >= .seconds(1) })
    }
}
