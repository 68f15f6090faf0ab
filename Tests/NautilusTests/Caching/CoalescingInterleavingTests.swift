import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusCaching

@Suite("RequestCoalescing: thousands of interleavings")
struct CoalescingInterleavingTests {
    @Test("whoever is cancelled or fails, nobody else fails, no two exchanges overlap, and nobody waits for ever")
    func manySeeds() async throws {
        try await inWorlds(2_000) { generator in
            let world = CoalescingWorld(&generator)
            await world.run()
            return world.findings()
        }
    }

    @Test("identical requests of which none is cancelled are one exchange, in whatever order they come")
    func oneExchange() async throws {
        try await inWorlds(2_000) { generator in
            let world = CoalescingWorld(&generator, cancels: false)
            await world.run()
            return world.findings()
        }
    }
}

/// Five identical requests, of which some are cancelled.
private struct CoalescingWorld: Sendable {
    private struct Record {
        var (sent, underWay, most, finished) = (0, 0, 0, 0)
        var outcomes: [String: Int] = [:]
    }

    private let coalescing = RequestCoalescing()
    private let duration: Int
    private let visits: [(start: Int, isCancelled: Bool)]
    private let record = Locked(Record())

    init(_ generator: inout SeededGenerator, cancels: Bool = true) {
        // Without cancellations, the exchange ends when all have come.
        duration = cancels ? Int(generator.next() % 4) : .max
        visits = (0..<5).map { _ in
            let draw = generator.next()
            return (Int(draw % 3), cancels && draw >> 16 % 3 == 0)
        }
    }

    func run() async {
        let tasks = visits.map { visit in BackgroundTask.start { await self.visit(visit.start) } }
        for (visit, task) in zip(visits, tasks) where visit.isCancelled {
            await Task.yield()
            task.cancel()
        }
        for task in tasks { await task.value }
    }

    private func visit(_ start: Int) async {
        for _ in 0..<start { await Task.yield() }
        let outcome = await coalescing.outcome(of: trafficRequest) { try await send() }
        record.withLock { $0.outcomes[outcome, default: 0] += 1 }
    }

    private func send() async throws -> HttpResponse<Data> {
        record.withLock { record in
            record.sent += 1
            record.underWay += 1
            record.most = max(record.most, record.underWay)
        }
        defer { record.withLock { $0.underWay -= 1 } }
        var left = duration
        while left > 0, duration != .max || coalescing.waitingCount < visits.count - 1 {
            left -= 1
            await Task.yield()
            try Task.checkCancellation()
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
        if cancellable == 0, duration == .max, record.sent != 1 { findings.append("\(record.sent) sent for all") }
        return findings
    }
}
