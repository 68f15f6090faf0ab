import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("Pacing", .endsInTime)
struct PacingTests {
    /// One service behind a pacing with slots of 100 ms, released in the middle of each.
    private struct World: Sendable {
        let clock: ManualClock
        let pacing: Pacing
        let transport: ScriptedTransport

        init(
            _ clock: ManualClock,
            maxWaiting: Int = 100,
            partition: (@Sendable (HttpRequest) -> String)? = nil,
            _ answer: @escaping @Sendable (HttpRequest, Int) -> ScriptedReply
        ) {
            let count = Counter()
            self.clock = clock
            self.transport = ScriptedTransport(clock: clock) { request, _ in answer(request, count.increment()) }
            self.pacing = Pacing(
                maxWaiting: maxWaiting,
                interval: .milliseconds(100),
                partition: partition,
                clock: clock,
                random: FixedRandomSource(0.5)
            )
        }

        func service(_ retrier: any RetrierFactory = .never) -> AnyHttpService<HttpError> {
            AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [pacing],
                retrierFactory: retrier,
                transport: transport,
                clock: clock
            )
        }

        /// When requests were sent, in milliseconds.
        var starts: [Int] { transport.attempts.map { Int($0.start / .milliseconds(1)) } }

        /// Starts calls one after the other, each once the one before is at the server or waits; then lets time pass.
        func run(_ calls: [Ping]) async throws -> [String] {
            try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for (index, call) in calls.enumerated() {
                    let before = (transport.count, pacing.waitingCount(for: trafficOrigin))
                    let ended = Locked(false)
                    group.addTask {
                        defer { ended.withLock { $0 = true } }
                        do throws(HttpError) {
                            return (index, try await call.schedule(with: service()))
                        } catch {
                            return (index, "\(error.kind)")
                        }
                    }
                    while (transport.count, pacing.waitingCount(for: trafficOrigin)) == before, !ended.withLock({ $0 })
                    {
                        await Task.yield()
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
            }
        }
    }

    private static func calls(_ count: Int) -> [Ping] {
        (1...count).map { Ping(route: ["things", $0]) }
    }

    private static func paths(_ transport: ScriptedTransport) -> [String] {
        transport.attempts.map { String($0.request.url.path(percentEncoded: true).dropFirst("/things/".count)) }
    }

    @Test(
        "a server that names a far future is asked once a minute, and what it says then counts",
        arguments: [
            [.retryAfter: "99999999999"], ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"],
            [.retryAfter: "Fri, 01 Jan 2199 00:00:00 GMT"],
        ] as [HttpHeader]
    )
    func farFuture(header: HttpHeader) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let world = World(clock) { _, number in number <= 2 ? .status(429, header: header) : .status(200) }
            let service = world.service()
            var statuses: [Int?] = []
            // Every 15 s, for three minutes.
            for _ in 0..<12 {
                let result = await Ping.get.result(with: service)
                statuses.append(result.error == nil ? 200 : result.error?.status)
                try await clock.sleep(for: .seconds(15))
            }
            // Refused without being sent: nil.
            #expect(statuses == [429, nil, nil, nil, 429, nil, nil, nil, 200, 200, 200, 200])
        }
    }

    @Test("C17: Retry-After of one answer holds back all calls, which then go in order and in slots, never early")
    func retryAfter() async throws {
        try await simulate { simulation in
            let world = World(simulation.clock) { _, count in
                count == 1 ? .status(429, header: ["Retry-After": "5"]) : .reply(text: "ok")
            }
            let outcomes = try await world.run(Self.calls(4))
            #expect(outcomes == ["status 429", "ok", "ok", "ok"])
            #expect(world.starts == [0, 5_050, 5_150, 5_250])
            #expect(Self.paths(world.transport) == ["1", "2", "3", "4"])
            #expect(world.pacing.waitingCount(for: trafficOrigin) == 0)
        }
    }

    @Test(
        "a limit that is used up holds back the next call until its reset, whichever fields tell of it",
        arguments: [
            ["RateLimit": "\"default\";r=0;t=5"], ["RateLimit": "limit=9, remaining=0, reset=5"],
            ["RateLimit-Remaining": "0", "RateLimit-Reset": "5"],
            ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "5"],
            [
                "Date": "Sat, 21 Nov 2026 04:18:07 GMT", "X-RateLimit-Remaining": "0",
                "X-RateLimit-Reset": "1795234692",
            ],
        ] as [HttpHeader]
    )
    func limit(header: HttpHeader) async throws {
        try await simulate { simulation in
            let world = World(simulation.clock) { _, count in .reply(header: count == 1 ? header : [:], text: "ok") }
            let outcomes = try await world.run(Self.calls(2))
            #expect(outcomes == ["ok", "ok"])
            #expect(world.starts == [0, 5_050])
        }
    }

    @Test("a strict server never has to refuse: what is left of its quota is sent, the rest waits for the next window")
    func strictServer() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let counts = Locked<[Int: Int]>([:])
            let world = World(clock) { _, _ in
                let second = Int(clock.now.offset / .seconds(1)) / 10
                let used = counts.withLock { counts in
                    counts[second, default: 0] += 1
                    return counts[second] ?? 0
                }
                let left = 10 - Int(clock.now.offset / .seconds(1)) % 10
                let header: HttpHeader = [
                    "RateLimit-Policy": "\"a\";q=3;w=10", "RateLimit": .init("\"a\";r=\(max(0, 3 - used));t=\(left)"),
                ]
                return .reply(status: used > 3 ? 429 : 200, header: header, text: "ok")
            }
            let outcomes = try await world.run(Self.calls(8))
            #expect(outcomes == Array(repeating: "ok", count: 8))
            // Whole seconds are all that the fields know: at 10.250 s it was told to wait for another 10.
            #expect(world.starts == [0, 0, 0, 10_050, 10_150, 10_250, 20_300, 20_400])
            #expect(counts.withLock { $0 } == [0: 3, 1: 3, 2: 2])
        }
    }

    @Test("calls of one partition wait, those of another go")
    func partitions() async throws {
        try await simulate { simulation in
            let world = World(simulation.clock, partition: { $0.header["X-User"] ?? "" }) { request, _ in
                let user = request.header["X-User"] ?? ""
                return .reply(
                    header: ["RateLimit": .init("\"a\";r=\(user == "ann" ? 0 : 5);t=5;pk=:\(user):")],
                    text: "ok"
                )
            }
            let calls = ["ann", "ann", "bob", "bob"].map { Ping(header: ["X-User": .init($0)]) }
            let outcomes = try await world.run(calls)
            #expect(outcomes == ["ok", "ok", "ok", "ok"])
            #expect(world.transport.attempts.map { $0.header["X-User"] } == ["ann", "bob", "bob", "ann"])
            #expect(world.starts == [0, 0, 0, 5_050])
        }
    }

    @Test("a call fails at once, unsent, when the queue is full or its wait would be too long")
    func refusals() async throws {
        try await simulate { simulation in
            let world = World(simulation.clock, maxWaiting: 1) { _, count in
                .reply(header: count == 1 ? ["RateLimit": "\"a\";r=0;t=50"] : [:], text: "ok")
            }
            let calls = [Ping(), Ping(), Ping(), Ping(deadline: .seconds(50))]
            let past = "not sent: it would wait for 50.100 s, with 50 s left until the deadline"
            let outcomes = try await world.run(calls)
            #expect(outcomes == ["ok", "ok", "not sent: 1 requests wait already", past])
            #expect(world.transport.count == 2)

            let long = World(simulation.clock) { _, _ in .reply(header: ["RateLimit": "\"a\";r=0;t=61"], text: "ok") }
            _ = try await long.run(Self.calls(1))
            do throws(HttpError) {
                _ = try await Ping.post.schedule(with: long.service(steadyBackoff()))
                Issue.record("the call went through")
            } catch {
                #expect(error.kind == .refused(.waitTooLong(.seconds(61), limit: .seconds(60))))
                #expect((error.delivery, error.retryAfter) == (.notSent, .seconds(61)))
                let why = "not sent: it would wait for 61 s, and waits for 60 s at most"
                #expect(error.trace.attempts.map { $0.decision?.reason } == [.notRetryable(why)])
            }
        }
    }

    @Test("a cancelled call leaves at once, and those behind it move up")
    func cancelled() async throws {
        try await simulate { simulation in
            let world = World(simulation.clock) { _, count in
                .reply(header: count == 1 ? ["RateLimit": "\"a\";r=0;t=5"] : [:], text: "ok")
            }
            _ = try await world.run(Self.calls(1))
            let tasks = (2...3).map { name in
                BackgroundTask.start { _ = try? await Ping(route: ["things", name]).schedule(with: world.service()) }
            }
            while world.pacing.waitingCount(for: trafficOrigin) < 2 { await Task.yield() }
            tasks[0].cancel()
            await tasks[0].value
            #expect(simulation.clock.now.offset == .zero)
            #expect(world.pacing.waitingCount(for: trafficOrigin) == 1)
            await tasks[1].value
            #expect(world.starts == [0, 5_050])
            #expect(Self.paths(world.transport) == ["1", "3"])
        }
    }

    @Test("a request that is cancelled before Pacing makes it wait does not wait")
    func cancelledBefore() async throws {
        let pacing = Pacing(clock: ManualClock())
        _ = await pacing.outcome(of: trafficRequest) { .test(429, header: ["Retry-After": "5"]) }
        let (stream, begin) = AsyncStream<Void>.makeStream()
        let late = Task {
            for await _ in stream {}
            return await pacing.outcome(of: trafficRequest) { .test() }
        }
        late.cancel()
        begin.finish()
        #expect(await late.value == "cancelled")
        #expect(pacing.waitingCount(for: trafficOrigin) == 0)
    }

    @Test("a call that is turned away while it waits, since the server orders more, hears of it at once")
    func turnedAway() async throws {
        try await simulate { simulation in
            let world = World(simulation.clock) { _, count in
                switch count {
                case 1: .delay(.seconds(1), then: .status(503, header: ["Retry-After": "30"]))
                case 2: .reply(header: ["RateLimit": "\"a\";r=0;t=5"], text: "ok")
                default: .reply(text: "ok")
                }
            }
            let calls = [Ping(), Ping(), Ping(deadline: .seconds(20)), Ping()]
            let away = "not sent: it would wait for 31 s, with 20 s left until the deadline"
            let outcomes = try await world.run(calls)
            #expect(outcomes == ["status 503", "ok", away, "ok"])
            #expect(world.starts == [0, 0, 31_050])
        }
    }

    @Test("the retries of a backoff join the queue behind the waiting requests")
    func retries() async throws {
        try await simulate { simulation in
            let world = World(simulation.clock) { _, count in
                count == 1 ? .status(429, header: ["Retry-After": "5"]) : .reply(text: "ok")
            }
            try await withThrowingTaskGroup(of: String.self) { group in
                group.addTask {
                    try await Ping(route: ["things", "retried"]).schedule(with: world.service(steadyBackoff()))
                }
                while world.transport.count == 0 { await Task.yield() }
                group.addTask { try await Ping(route: ["things", "waiting"]).schedule(with: world.service()) }
                try await group.waitForAll()
            }
            #expect(Self.paths(world.transport) == ["retried", "waiting", "retried"])
            #expect(world.starts == [0, 5_050, 5_150])
        }
    }

    @Test("an answer from a cache, or after a redirect to another origin, says nothing of this one's limits")
    func otherAnswers() async throws {
        let usedUp: HttpHeader = ["RateLimit": "\"a\";r=0;t=5"]
        let answers: [HttpResponse<Data>] = [
            .test(header: usedUp.merging(["Age": "7"])), .test(header: usedUp, url: "https://other.example.com/"),
            .test(202, header: ["Retry-After": "5"]), .test(429, header: ["Retry-After": "soon"]),
            .test(header: usedUp, url: "https://api.example.com/moved"),
        ]
        try await simulate { simulation in
            let clock = simulation.clock
            let pacing = Pacing(clock: clock)
            for (index, answer) in answers.enumerated() {
                let outcome = await pacing.outcome(of: trafficRequest) { answer }
                #expect(outcome == "\(answer.status)", "after answer \(index)")
                #expect(clock.now.offset == .zero)
            }
            // The last answer was this origin's own.
            #expect(await pacing.outcome(of: trafficRequest) { .test() } == "200")
            #expect(clock.now.offset >= .seconds(5))
        }
    }

    @Test("pacing of one origin does not delay others, and a URL without an origin passes")
    func origins() async throws {
        let pacing = Pacing(clock: ManualClock())
        _ = await pacing.outcome(of: trafficRequest) { .test(429, header: ["Retry-After": "5"]) }
        #expect(await pacing.outcome(of: try .test("https://other.example.com")) { .test() } == "200")
        #expect(await pacing.outcome(of: try .test("things")) { .test() } == "200")
    }

    @Test("those who wait for nothing but the end of others go when these have failed")
    func failures() async throws {
        try await simulate { simulation in
            let world = World(simulation.clock) { _, count in
                switch count {
                case 1: .delay(.seconds(1), then: .fail(.cannotConnectToHost, delivery: .notSent))
                case 2: .reply(header: ["RateLimit": "\"a\";r=1;t=50"], text: "ok")
                default: .reply(text: "ok")
                }
            }
            let outcomes = try await world.run(Self.calls(3))
            #expect(outcomes == ["connection refused, or the host is unreachable (URLError -1004)", "ok", "ok"])
            #expect(world.starts == [0, 0, 1_050])
        }
    }
}
