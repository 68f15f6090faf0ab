import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus

@Suite("Retries after the process was suspended")
struct RetrySleepTests {
    /// One delay of 10 s, at which draws decide how calls are spread again.
    private static func retrier(_ random: any RandomSource = FixedRandomSource(0.5)) -> AnyRetrierFactory {
        BackoffRetrier.factory(
            .standard.with {
                $0.backoff = .constant(.seconds(10), jitter: .none)
                $0.maxAttempts = 2
                $0.budget = .unlimited
                $0.random = random
            }
        )
    }

    /// When the second attempts of some calls begin that all fail at 0 s, with the process suspended at 5 s.
    private static func starts(
        of count: Int = 1,
        _ request: Ping = .get,
        suspensions: [Duration],
        retrier: any RetrierFactory = retrier()
    ) async throws -> [Duration] {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { _, context in
                context.number == 1 ? .status(503) : .reply(text: "ok")
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: retrier,
                transport: transport,
                clock: clock
            )
            simulation.start {
                for suspension in suspensions {
                    try? await clock.sleep(for: .seconds(5))
                    clock.suspend(for: suspension)
                }
            }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<count { group.addTask { _ = try? await request.schedule(with: service) } }
            }
            return transport.attempts.filter { $0.context.number == 2 }.map(\.start)
        }
    }

    @Test("a thousand retries that were due meanwhile are spread over their delay, as the seed draws")
    func thousand() async throws {
        let starts = try await Self.starts(
            of: 1_000,
            suspensions: [.seconds(600)],
            retrier: Self.retrier(SeededRandomSource(seed: 7))
        )
        let random = SeededRandomSource(seed: 7)
        let expected = (1...1_000).map { _ in
            Duration.seconds(605) + .seconds(10).scaled(by: random.nextFraction())
        }
        #expect(starts == expected.sorted())
        // A hundred a second, and not a thousand at once.
        for second in 605..<615 {
            let count = starts.filter { $0 >= .seconds(second) && $0 < .seconds(second + 1) }.count
            #expect((60...140).contains(count))
        }
    }

    @Test(
        "a sleep that ends two seconds late is none of those, one that ends later is",
        arguments: [
            (Duration.seconds(5), Duration.seconds(10)), (.seconds(6), .seconds(11)), (.seconds(7), .seconds(12)),
            (.seconds(7) + .nanoseconds(1), .seconds(17) + .nanoseconds(1)), (.seconds(60), .seconds(70)),
        ]
    )
    func threshold(suspension: Duration, start: Duration) async throws {
        #expect(try await Self.starts(suspensions: [suspension]) == [start])
    }

    @Test("one that ends while the process is suspended again is spread once more")
    func twice() async throws {
        let random = FixedRandomSource(1, 0.25)
        let starts = try await Self.starts(suspensions: [.seconds(60), .seconds(30)], retrier: Self.retrier(random))
        // Awake at 65 s, asleep until 75 s, suspended from 70 s to 100 s; then a quarter of ten seconds is drawn.
        #expect(starts == [.seconds(102.5)])
        #expect(random.drawCount == 2)
    }

    @Test("a call whose deadline has passed meanwhile ends as it wakes, with the failure before")
    func deadlinePassed() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(.status(503), clock: clock)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: Self.retrier(),
                transport: transport,
                clock: clock
            )
            simulation.start {
                try? await clock.sleep(for: .seconds(5))
                clock.suspend(for: .seconds(600))
            }
            let error = await #expect(throws: HttpError.self) {
                try await Ping(deadline: .seconds(60)).schedule(with: service)
            }
            #expect(error?.kind == .status(503))
            #expect(clock.now.offset == .seconds(605))
            #expect(transport.count == 1)
        }
    }

    @Test("what is left until the deadline is halved between waiting and the attempt")
    func deadlineNear() async throws {
        // Four seconds are left at 65 s: a half of two.
        let starts = try await Self.starts(of: 1, Ping(deadline: .seconds(69)), suspensions: [.seconds(60)])
        #expect(starts == [.seconds(66)])
    }

    @Test("an attempt's timeout is not put off")
    func timeout() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                transport: ScriptedTransport(.hang, clock: clock),
                clock: clock
            )
            simulation.start {
                try? await clock.sleep(for: .seconds(5))
                clock.suspend(for: .seconds(600))
            }
            let error = await #expect(throws: HttpError.self) {
                try await Ping(timeout: .seconds(30)).schedule(with: service)
            }
            #expect(error?.kind == .timeout(.seconds(30)))
            #expect(clock.now.offset == .seconds(605))
        }
    }

    @Test("the retrier that wanted the retry draws, within the span whatever it says", arguments: [(-1, 65), (9, 75)])
    func composed(factor: Int, seconds: Int) async throws {
        struct Wild: Retrier {
            let factor: Int
            var hasRetried = false
            mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
                defer { hasRetried = true }
                return hasRetried ? .doNotRetry : .retry(after: .seconds(10))
            }
            func spread(over span: Duration) -> Duration { span * factor }
        }
        let wild = AnyRetrierFactory { Wild(factor: factor) }
        let retrier = ComposedRetrier.factory(NilRetrier.factory(), wild, Self.retrier())
        #expect(try await Self.starts(suspensions: [.seconds(60)], retrier: retrier) == [.seconds(seconds)])
    }

    @Test("a retrier that does not say is spread by the system's generator")
    func byDefault() async throws {
        let once = ScriptedRetrier.factory { asked, _ in asked == 0 ? .retry(after: .seconds(10)) : .doNotRetry }
        let starts = try await Self.starts(of: 200, suspensions: [.seconds(60)], retrier: once)
        #expect(starts.allSatisfy { $0 >= .seconds(65) && $0 <= .seconds(75) })
        #expect(Set(starts).count > 190)
    }

    @Test(
        "the span is the delay, from 1 s to 10 s, and at most half of what is left",
        arguments: [
            (Duration.milliseconds(50), Duration?.none, Duration.seconds(1)), (.seconds(1), nil, .seconds(1)),
            (.seconds(4), nil, .seconds(4)), (.seconds(60), nil, .seconds(10)), (.seconds(4), .seconds(6), .seconds(3)),
            (.seconds(4), .seconds(9), .seconds(4)), (.seconds(4), .seconds(-1), .zero), (.seconds(4), .zero, .zero),
        ]
    )
    func spans(delay: Duration, remaining: Duration?, span: Duration) {
        #expect(RetrySleep.span(after: delay, lateBy: .seconds(3), remaining: remaining) == span)
        #expect(RetrySleep.span(after: delay, lateBy: .seconds(2), remaining: remaining) == nil)
    }
}
