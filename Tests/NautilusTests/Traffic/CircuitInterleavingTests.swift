import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusTraffic

@Suite("CircuitBreaker: thousands of interleavings")
struct CircuitInterleavingTests {
    @Test("never two probes at a time, nothing else while the circuit is not closed, and nobody waits for ever")
    func manySeeds() async throws {
        try await inWorlds(10_000) { generator in
            let world = CircuitWorld(&generator)
            await world.run()
            return world.findings()
        }
    }
}

/// One breaker, a server that fails at first, and three requests, of which some are cancelled.
private struct CircuitWorld: Sendable {
    private struct Record {
        var (sent, refused, ended, probing) = (0, 0, 0, 0)
        var findings: [String] = []
    }

    private let clock = ManualClock()
    private let breaker: CircuitBreaker
    private let visits: [(start: Int, duration: Int, isCancelled: Bool)]
    private let record = Locked(Record())

    init(_ generator: inout SeededGenerator) {
        breaker = CircuitBreaker(
            limits: CircuitLimits(minimumThroughput: 1, pause: .constant(.milliseconds(2), jitter: .none)),
            clock: clock
        )
        visits = (0..<3).map { _ in
            let draw = generator.next()
            return (Int(draw % 4), Int(draw >> 8 % 3), draw >> 16 % 4 == 0)
        }
    }

    func run() async {
        let tasks = visits.map { visit in BackgroundTask.start { await self.visit(visit.start, visit.duration) } }
        for (visit, task) in zip(visits, tasks) {
            await Task.yield()
            clock.advance(by: .milliseconds(1))
            if visit.isCancelled { task.cancel() }
        }
        for task in tasks { await task.value }
    }

    private func visit(_ start: Int, _ duration: Int) async {
        for _ in 0..<start { await Task.yield() }
        let outcome = await breaker.outcome(of: trafficRequest) { try await send(duration) }
        record.withLock { record in
            record.ended += 1
            if outcome.hasPrefix("refused") { record.refused += 1 }
        }
    }

    /// Sends a request, and records what the server sees and what the breaker says at that very moment.
    private func send(_ duration: Int) async throws -> HttpResponse<Data> {
        let state = breaker.state(of: trafficOrigin)
        let isProbe = state == .halfOpen(isProbing: true)
        record.withLock { record in
            record.sent += 1
            if isProbe { record.probing += 1 }
            if record.probing > 1 { record.findings.append("two probes") }
            if !isProbe, state != .closed { record.findings.append("sent while \(state)") }
        }
        defer { record.withLock { $0.probing -= isProbe ? 1 : 0 } }
        for _ in 0..<duration {
            await Task.yield()
            try Task.checkCancellation()
        }
        return .test(clock.now.offset < .milliseconds(4) ? 503 : 200)
    }

    func findings() -> [String] {
        record.withLock { record in
            let isComplete = record.ended == visits.count && record.sent + record.refused == visits.count
            let isProbing = breaker.state(of: trafficOrigin) == .halfOpen(isProbing: true)
            return record.findings + (isComplete ? [] : ["a request is missing"])
                + (isProbing ? ["a probe was lost"] : [])
        }
    }
}
