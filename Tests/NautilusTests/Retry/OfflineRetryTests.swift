import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("A backoff waits for a network")
struct OfflineRetryTests {
    /// When the network changes: offline at first, the other way at each of these times.
    static func change(_ connectivity: ConnectivitySwitch, at times: [Duration], in simulation: Simulated) {
        simulation.start {
            for time in times {
                try? await simulation.clock.sleep(until: .init(time))
                connectivity.set(isOnline: !connectivity.isOnline)
            }
        }
    }

    /// Backoff of 0.5 s, 1 s, 2 s, … without jitter, that waits for a network.
    private static func retrier(
        _ connectivity: any Connectivity,
        _ clock: ManualClock,
        maxAttempts: Int = 4,
        longest: Duration = .seconds(60),
        budget: RetryBudgetScope = .unlimited,
        random: any RandomSource = FixedRandomSource(0.5)
    ) -> any RetrierFactory {
        BackoffRetrier.factory(
            .standard.with {
                $0.backoff = .exponential(jitter: .none)
                $0.maxAttempts = maxAttempts
                $0.budget = budget
                $0.offline = OfflinePause(connectivity: connectivity, longest: longest, clock: clock)
                $0.random = random
            }
        )
    }

    /// One call from a device whose network changes at `times`; without one, attempts fail as `failure` says.
    ///
    /// - Parameter replies: The server's answers; an attempt without a network does not reach it.
    private static func outcome(
        of request: Ping = .get,
        changes times: [Duration],
        failure: ScriptedReply = .fail(.notConnectedToInternet, delivery: .notSent),
        replies: [ScriptedReply] = [.reply(text: "ok")],
        maxAttempts: Int = 4,
        longest: Duration = .seconds(60),
        budget: RetryBudgetScope = .unlimited
    ) async throws -> (outcome: Outcome, starts: [Duration]) {
        try await simulate { simulation in
            let (clock, connectivity) = (simulation.clock, ConnectivitySwitch(isOnline: false))
            change(connectivity, at: times, in: simulation)
            let answered = Locked(0)
            let transport = ScriptedTransport(clock: clock) { _, _ in
                guard connectivity.isOnline else { return failure }
                let index = answered.withLock { answered in
                    defer { answered += 1 }
                    return answered
                }
                return replies[min(index, replies.count - 1)]
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: retrier(
                    connectivity,
                    clock,
                    maxAttempts: maxAttempts,
                    longest: longest,
                    budget: budget
                ),
                transport: transport,
                clock: clock
            )
            let outcome: Outcome
            do throws(HttpError) {
                let response = try await request.response(with: service)
                outcome = Outcome(response: response, error: nil, end: clock.now.offset)
            } catch {
                outcome = Outcome(response: nil, error: error, end: clock.now.offset)
            }
            #expect(connectivity.waitingCount == 0)
            return (outcome, transport.attempts.map(\.start))
        }
    }

    @Test("a retry waits until the device is online again and for up to 2 s more, and the trace says so")
    func waits() async throws {
        let (outcome, starts) = try await Self.outcome(changes: [.seconds(30)])
        #expect(outcome.response?.body == "ok")
        #expect(starts == [.zero, .seconds(31)])
        #expect(outcome.delays == [.seconds(1)])
        #expect(outcome.trace.attempts[0].decision?.reason == .online(after: .seconds(30)))
        #expect(
            outcome.trace.description == """
                GET https://api.example.com/things: 2 attempts in 31 s
                  #1  at 0 ms       no network connection (URLError -1009), in send, after 30 s (notSent)
                      BackoffRetrier: retry in 1 s (online again after 30 s)
                  #2  at 31 s       200 after 0 ms
                """
        )
    }

    @Test(
        "whichever failure the lack of a network looks like, it is waited out",
        arguments: [
            .fail(.notConnectedToInternet, delivery: .notSent), .fail(.networkConnectionLost),
            .fail(.cannotFindHost, delivery: .notSent), .fail(.dataNotAllowed, delivery: .notSent), .fail(.timedOut),
        ] as [ScriptedReply]
    )
    func failures(failure: ScriptedReply) async throws {
        let (outcome, starts) = try await Self.outcome(changes: [.seconds(30)], failure: failure)
        #expect(outcome.response?.body == "ok")
        #expect(starts == [.zero, .seconds(31)])
    }

    @Test("a timeout of the attempt is waited out, too")
    func timeouts() async throws {
        let request = Ping(timeout: .seconds(10))
        let (outcome, starts) = try await Self.outcome(of: request, changes: [.seconds(30)], failure: .hang)
        #expect(outcome.response?.body == "ok")
        #expect(starts == [.zero, .seconds(31)])
    }

    @Test("a status is retried without a wait for the network, even if the system says it is offline")
    func statuses() async throws {
        let (outcome, starts) = try await Self.outcome(changes: [], failure: .status(503))
        #expect(outcome.lastReason == .attemptsUsed(4))
        #expect(starts == [.zero, .seconds(0.5), .seconds(1.5), .seconds(3.5)])
    }

    @Test("a request that may have been executed is not repeated, however long the network was away")
    func notRepeatable() async throws {
        let failure = ScriptedReply.fail(.networkConnectionLost)
        let (outcome, starts) = try await Self.outcome(of: .post, changes: [.seconds(30)], failure: failure)
        #expect(outcome.lastReason == .mayHaveExecuted)
        #expect((starts, outcome.end) == ([.zero], .zero))
    }

    @Test(
        "the device itself needs no network",
        arguments: ["http://localhost:8080", "http://127.0.0.1", "http://[::1]"]
    )
    func loopback(url: String) async throws {
        let (outcome, starts) = try await Self.outcome(of: Ping(url: url), changes: [])
        #expect(outcome.lastReason == .attemptsUsed(4))
        #expect(starts.last == .seconds(3.5))
    }

    @Test("attempts without a network use up none of the attempts, and none of the budget")
    func free() async throws {
        let budget = TokenBucketBudget(depositOfSuccess: 0.1)
        let balance = budget.balance
        let (outcome, starts) = try await Self.outcome(
            // Online at 10 s and offline before the retry, twice; then for good.
            changes: [.seconds(10), .seconds(10.5), .seconds(20), .seconds(21), .seconds(30)],
            failure: .fail(.networkConnectionLost),
            replies: [.status(503), .status(502)],
            maxAttempts: 2,
            budget: .shared(budget)
        )
        // 1 s after 10 s; 2 s after 20 s; 4 s after 30 s, then one retry of the server's own failure.
        #expect(starts == [.zero, .seconds(11), .seconds(22), .seconds(34), .seconds(34.5)])
        let reasons = outcome.trace.attempts.map { $0.decision?.reason }
        #expect(
            reasons == [
                .online(after: .seconds(10)), .online(after: .seconds(9)), .online(after: .seconds(8)),
                .backoff(retry: 1), .attemptsUsed(2),
            ]
        )
        #expect(outcome.error?.kind == .status(502))
        #expect(balance - budget.balance == 1)
    }

    @Test("a network that keeps coming and going causes few attempts: each waits longer, until 60 s are over")
    func flapping() async throws {
        let changes = (1...3_000).map { Duration.milliseconds(100) * $0 }
        let (outcome, starts) = try await Self.outcome(
            changes: changes,
            // Also with a network: what comes and goes is none.
            replies: [.fail(.notConnectedToInternet, delivery: .notSent)]
        )
        #expect(outcome.error?.kind == .transport(.notConnectedToInternet))
        // Nine waits of 1 s, 2 s, 4 s, 8 s and then 10 s, three retries that count, and a tenth of a second of waiting.
        #expect((starts.count, outcome.end) == (13, .milliseconds(68_600)))
        #expect(outcome.lastReason == .attemptsUsed(4))
    }

    @Test("after the longest wait the failure counts, and the retry is made: who says that there is no network may err")
    func longestWait() async throws {
        let (outcome, starts) = try await Self.outcome(changes: [])
        #expect(starts == [.zero, .seconds(60.5), .seconds(61.5), .seconds(63.5)])
        #expect(outcome.error?.kind == .transport(.notConnectedToInternet))
        let reasons = outcome.trace.attempts.map { $0.decision?.reason }
        let still = RetryReason.stillOffline(after: .seconds(60))
        #expect(reasons == [still, .backoff(retry: 2), .backoff(retry: 3), .attemptsUsed(4)])
    }

    @Test("a deadline ends the wait with the failure before it")
    func deadline() async throws {
        let (outcome, starts) = try await Self.outcome(of: Ping(deadline: .seconds(20)), changes: [.seconds(30)])
        #expect(outcome.error?.kind == .transport(.notConnectedToInternet))
        #expect((starts, outcome.end) == ([.zero], .seconds(20)))
    }

    @Test("a spread that does not fit into the deadline is not waited for")
    func spreadPastDeadline() async throws {
        let (outcome, starts) = try await Self.outcome(of: Ping(deadline: .seconds(31)), changes: [.seconds(30)])
        #expect(outcome.lastReason == .deadline(remaining: .seconds(1)))
        #expect((starts, outcome.end) == ([.zero], .seconds(30)))
    }

    @Test("without retries, a call does not wait for the network")
    func noRetries() async throws {
        let (outcome, starts) = try await Self.outcome(changes: [.seconds(30)], maxAttempts: 1)
        #expect(outcome.lastReason == .attemptsUsed(1))
        #expect((starts, outcome.end) == ([.zero], .zero))
    }

    @Test("a longest wait of zero switches it off")
    func switchedOff() async throws {
        let (_, starts) = try await Self.outcome(changes: [.seconds(30)], longest: .zero)
        #expect(starts == [.zero, .seconds(0.5), .seconds(1.5), .seconds(3.5)])
    }

    @Test("a cancelled call leaves at once, and leaves nothing behind")
    func cancellation() async throws {
        try await simulate { simulation in
            let (clock, connectivity) = (simulation.clock, ConnectivitySwitch(isOnline: false))
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: Self.retrier(connectivity, clock),
                transport: ScriptedTransport(.fail(.notConnectedToInternet, delivery: .notSent)),
                clock: clock
            )
            let ended = Locked<(FailureKind, Duration)?>(nil)
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do throws(HttpError) {
                        _ = try await Ping.get.schedule(with: service)
                    } catch {
                        let end = (error.kind, clock.now.offset)
                        ended.withLock { $0 = end }
                    }
                }
                try? await clock.sleep(for: .seconds(5))
                #expect(connectivity.waitingCount == 1)
                group.cancelAll()
            }
            let end = ended.withLock { $0 }
            #expect(end?.0 == .cancelled)
            #expect(end?.1 == .seconds(5))
            #expect((connectivity.waitingCount, clock.sleeperCount) == (0, 0))
        }
    }

    @Test("a hundred calls that wait come back spread over 2 s, as the seed draws", arguments: [1, 2] as [UInt64])
    func spread(seed: UInt64) async throws {
        let starts = try await simulate(seed: seed) { simulation in
            let (clock, connectivity) = (simulation.clock, ConnectivitySwitch(isOnline: false))
            Self.change(connectivity, at: [.seconds(30)], in: simulation)
            let transport = ScriptedTransport(clock: clock) { _, _ in
                connectivity.isOnline ? .reply(text: "ok") : .fail(.notConnectedToInternet, delivery: .notSent)
            }
            let random = SeededRandomSource(seed: seed)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: Self.retrier(connectivity, clock, random: random),
                transport: transport,
                clock: clock
            )
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...100 { group.addTask { _ = try await Ping.get.schedule(with: service) } }
                try await group.waitForAll()
            }
            return transport.attempts.map(\.start).filter { $0 > .zero }
        }
        let random = SeededRandomSource(seed: seed)
        let expected = (1...100).map { _ in Duration.seconds(30) + .seconds(2).scaled(by: random.nextFraction()) }
        #expect(starts == expected.sorted())
        #expect(Set(starts).count == 100)
    }

    @Test("the system's connectivity is online in a simulation, and where nobody knows of the network")
    func system() async throws {
        let system: any Connectivity = .system
        try await simulate { _ in
            #expect(system.isOnline)
            try await system.waitUntilOnline()
        }
        #if !canImport(Network)
            #expect(system.isOnline)
        #endif
        let always: any Connectivity = .always
        #expect(always.isOnline)
        try await always.waitUntilOnline()
    }
}
