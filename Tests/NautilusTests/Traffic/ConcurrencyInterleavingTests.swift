import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusTraffic

@Suite("ConcurrencyLimit: thousands of interleavings")
struct ConcurrencyInterleavingTests {
    @Test("no slot is lost or doubled, whoever comes, is cancelled, fails or is refused, and nobody waits for ever")
    func manySeeds() async throws {
        try await inWorlds(10_000) { generator in
            let world = ConcurrencyWorld(&generator)
            await world.run()
            return world.findings()
        }
    }
}

/// One or two slots, one place to wait, and four requests, of which some are cancelled.
private struct ConcurrencyWorld: Sendable {
    private struct Record {
        var (sent, underWay, most) = (0, 0, 0)
        var outcomes: [String: Int] = [:]
    }

    private let slots: Int
    private let limit: ConcurrencyLimit
    private let visits: [(start: Int, duration: Int, isCancelled: Bool)]
    private let record = Locked(Record())

    init(_ generator: inout SeededGenerator) {
        slots = generator.next().isMultiple(of: 2) ? 1 : 2
        limit = ConcurrencyLimit(slots, maxWaiting: 1)
        visits = (0..<4).map { _ in
            let draw = generator.next()
            return (Int(draw % 3), Int(draw >> 8 % 3), draw >> 16 % 3 == 0)
        }
    }

    func run() async {
        let tasks = visits.map { visit in BackgroundTask.start { await self.visit(visit.start, visit.duration) } }
        for (visit, task) in zip(visits, tasks) where visit.isCancelled {
            await Task.yield()
            task.cancel()
        }
        for task in tasks { await task.value }
    }

    private func visit(_ start: Int, _ duration: Int) async {
        for _ in 0..<start { await Task.yield() }
        let outcome = await limit.outcome(of: trafficRequest) { try await send(duration) }
        record.withLock { $0.outcomes[outcome, default: 0] += 1 }
    }

    private func send(_ duration: Int) async throws -> HttpResponse<Data> {
        record.withLock { record in
            record.sent += 1
            record.underWay += 1
            record.most = max(record.most, record.underWay)
        }
        defer { record.withLock { $0.underWay -= 1 } }
        for _ in 0..<duration {
            await Task.yield()
            try Task.checkCancellation()
        }
        return .test()
    }

    func findings() -> [String] {
        let record = record.withLock { $0 }
        var findings: [String] = []
        if record.most > slots { findings.append("\(record.most) under way, with \(slots) slots") }
        if limit.underWayCount(to: trafficOrigin) != 0 { findings.append("a slot is lost") }
        if limit.waitingCount(for: trafficOrigin) != 0 { findings.append("somebody waits still") }
        let known = ["200", "cancelled", "refused: 1 requests wait already"].map { record.outcomes[$0] ?? 0 }
        if known.reduce(0, +) != visits.count { findings.append("outcomes: \(record.outcomes)") }
        if record.sent < known[0] || record.sent > known[0] + known[1] { findings.append("\(record.sent) sent") }
        return findings
    }
}
