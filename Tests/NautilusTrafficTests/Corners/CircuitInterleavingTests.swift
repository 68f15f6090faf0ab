import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("CircuitBreaker: thousands of interleavings")
struct CircuitInterleavingTests {
    @Test("there are never two probes at a time, nothing else passes an open circuit, and nobody waits for ever")
    func manySeeds() async throws {
        try await inWorlds(10_000) { CircuitWorld(&$0) }
    }
}

/// One breaker, a server that fails at first, and three requests, of which some are cancelled.
private struct CircuitWorld: VisitedWorld {
    private struct Record {
        var (sent, refused, ended, probing) = (0, 0, 0, 0)
        var findings: [String] = []
    }

    private let clock = ManualClock()
    private let breaker: CircuitBreaker
    let visits: [Visit]
    private let record = Locked(Record())

    init(_ generator: inout SeededGenerator) {
        breaker = CircuitBreaker(
            limits: CircuitLimits(minimumThroughput: 1, pause: .constant(.milliseconds(2), jitter: .none)),
            clock: clock
        )
        visits = (0..<3).map { _ in Visit(&generator, starts: 4) }
    }

    func passTime() { clock.advance(by: .milliseconds(1)) }

    func make(_ visit: Visit) async {
        await visit.begin()
        let outcome = await breaker.outcome(of: trafficRequest) { try await send(visit) }
        record.withLock { record in
            record.ended += 1
            if outcome.hasPrefix("refused") { record.refused += 1 }
        }
    }

    /// Sends a request, and records what the server sees and what the breaker says at that very moment.
    private func send(_ visit: Visit) async throws -> HttpResponse<Data> {
        let state = breaker.state(of: trafficOrigin)
        let isProbe = state == .halfOpen(isProbing: true)
        record.withLock { record in
            record.sent += 1
            if isProbe { record.probing += 1 }
            if record.probing > 1 { record.findings.append("two probes") }
            if !isProbe, state != .closed { record.findings.append("sent while \(state)") }
        }
        defer { record.withLock { $0.probing -= isProbe ? 1 : 0 } }
        try await visit.work()
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
