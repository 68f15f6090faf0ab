import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("RequestCoalescing: thousands of interleavings")
struct CoalescingInterleavingTests {
    @Test("cancelled or failing calls make no other call fail, overlap or wait for ever")
    func manySeeds() async throws {
        try await inWorlds(2_000) { CoalescingWorld(&$0) }
    }

    @Test("identical requests of which none is cancelled are one exchange, in whatever order they come")
    func oneExchange() async throws {
        try await inWorlds(2_000) { CoalescingWorld(&$0, cancels: false) }
    }
}

/// Five identical requests, of which some are cancelled.
private struct CoalescingWorld: VisitedWorld {
    private struct Record {
        var (sent, underWay, most, finished) = (0, 0, 0, 0)
        var outcomes: [String: Int] = [:]
    }

    private let coalescing = RequestCoalescing()
    /// Whether the exchange ends when all have come: then none of them is cancelled.
    private let waitsForAll: Bool
    let visits: [Visit]
    private let record = Locked(Record())

    init(_ generator: inout SeededGenerator, cancels: Bool = true) {
        waitsForAll = !cancels
        visits = (0..<5).map { _ in Visit(&generator, starts: 3, durations: 4, cancels: cancels) }
    }

    func make(_ visit: Visit) async {
        await visit.begin()
        let outcome = await coalescing.outcome(of: trafficRequest) { try await send(visit) }
        record.withLock { $0.outcomes[outcome, default: 0] += 1 }
    }

    private func send(_ visit: Visit) async throws -> HttpResponse<Data> {
        record.withLock { record in
            record.sent += 1
            record.underWay += 1
            record.most = max(record.most, record.underWay)
        }
        defer { record.withLock { $0.underWay -= 1 } }
        if waitsForAll {
            while coalescing.waitingCount < visits.count - 1 { await Task.yield() }
        } else {
            try await visit.work()
        }
        record.withLock { $0.finished += 1 }
        return .test()
    }

    func findings() -> [String] {
        let record = record.withLock { $0 }
        var findings: [String] = []
        if record.most > 1 { findings.append("\(record.most) exchanges at once") }
        if coalescing.exchangeCount != 0 || coalescing.waitingCount != 0 { findings.append("somebody waits still") }
        let (answered, cancelled) = (record.outcomes["200"] ?? 0, record.outcomes["cancelled"] ?? 0)
        if answered + cancelled != visits.count { findings.append("outcomes: \(record.outcomes)") }
        let cancellable = visits.filter(\.isCancelled).count
        if cancelled > cancellable { findings.append("\(cancelled) cancelled, of \(cancellable)") }
        // Each exchange has ended well or been cancelled with its own call.
        if record.sent > record.finished + cancelled { findings.append("\(record.sent) sent") }
        if waitsForAll, record.sent != 1 { findings.append("\(record.sent) sent for all") }
        return findings
    }
}
