import DemoServers
import Nautilus
import NautilusTraffic

/// Calls at a steady pace to a server that is down for a while.
struct OutageRun: Sendable {
    let name: String
    let breaker: CircuitBreaker?

    /// Fifty a second, for four seconds.
    static let calls = 200
    static let pace = Duration.milliseconds(20)
    /// The server is down from here…
    private static let firstBad = 50
    /// …to here, two seconds later.
    private static let firstGoodAgain = 150

    /// Pauses that fit an outage of two seconds; the default begins with five.
    static var breaker: CircuitBreaker {
        CircuitBreaker(limits: CircuitLimits(pause: .exponential(base: .milliseconds(400), jitter: .equal)))
    }

    func result() async throws -> RunResult {
        let server = try await DemoServer.start(environment: "failing")
        let service = await NotesService(server, interceptors: breaker.map { [$0] } ?? [])
        let clock = ContinuousClock()
        let start = clock.now
        let events = breaker?.events
        // Ends when it is cancelled, after what has been sent by then.
        let log = Task { await CircuitChange.all(of: events, since: start) }
        let succeeded = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<Self.calls {
                if number == Self.firstBad { await server.breakDown() }
                if number == Self.firstGoodAgain { await server.recover() }
                group.addTask { await service.succeeds(number) }
                try await clock.sleep(until: start + Self.pace * (number + 1))
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        let duration = start.duration(to: clock.now)
        let counters = await server.counters
        await server.stop()
        log.cancel()
        return RunResult(
            scenario: "outage",
            name: name,
            calls: Self.calls,
            succeeded: succeeded,
            requests: counters.requests,
            refused: counters.answers[503, default: 0],
            duration: duration,
            changes: await log.value
        )
    }
}
