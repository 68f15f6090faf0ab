import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("ConcurrencyLimit: thousands of interleavings")
struct ConcurrencyInterleavingTests {
    @Test("no slot is lost or doubled, whoever comes, is cancelled, fails or is refused, and nobody waits for ever")
    func manySeeds() async throws {
        try await inWorlds(10_000) { ConcurrencyWorld(&$0) }
    }
}

/// One or two slots, one place to wait, and four requests, of which some are cancelled.
private struct ConcurrencyWorld: VisitedWorld {
    private struct Record {
        var (sent, underWay, most) = (0, 0, 0)
        var outcomes: [String: Int] = [:]
    }

    private let slots: Int
    private let limit: ConcurrencyLimit
    let visits: [Visit]
    private let record = Locked(Record())

    init(_ generator: inout SeededGenerator) {
        slots = generator.next().isMultiple(of: 2) ? 1 : 2
        limit = ConcurrencyLimit(slots, maxWaiting: 1)
        visits = (0..<4).map { _ in Visit(&generator, starts: 3) }
    }

    func make(_ visit: Visit) async {
        await visit.begin()
        let outcome = await limit.outcome(of: trafficRequest) { try await send(visit) }
        record.withLock { $0.outcomes[outcome, default: 0] += 1 }
    }

    private func send(_ visit: Visit) async throws -> HttpResponse<Data> {
        record.withLock { record in
            record.sent += 1
            record.underWay += 1
            record.most = max(record.most, record.underWay)
        }
        defer { record.withLock { $0.underWay -= 1 } }
        try await visit.work()
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
