import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("Pacing: thousands of interleavings")
struct PacingInterleavingTests {
    @Test("the machine releases in order and never early, and loses nobody, in whatever order things happen")
    func machine() {
        for seed in 0..<UInt64(trials(20_000)) {
            var model = PaceModel(seed: seed)
            for _ in 0..<12 { model.step() }
            if let finding = model.finding { Issue.record("seed \(seed): \(finding)") }
        }
    }

    @Test("nothing is sent over the limit, whoever is cancelled, and nobody waits for ever")
    func manySeeds() async throws {
        try await inWorlds(2_000) { PacingWorld(&$0) }
    }
}

/// A machine to which things happen at random, beside what is plain about it.
private struct PaceModel {
    private var generator: SeededGenerator
    private var machine = PaceMachine<NamedWaiter>(
        rules: PaceRules(maxWaiting: 3, maxWait: .seconds(60), interval: .seconds(1))
    )
    private var now = Duration.zero
    private var pauseEnd = Duration.zero
    private var underWay: [Int] = []
    private var waiting: [String] = []
    private var lastName = 0
    private let asker = PaceAsker(remaining: nil, isUrgent: false)
    /// The first thing that is wrong; nil for nothing.
    private(set) var finding: String?

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    mutating func step() {
        let draw = generator.next()
        switch draw % 8 {
        case 0...2: ask()
        case 3: answer(ordering: .seconds(Int(draw >> 8 % 7)))
        case 4: answer(ordering: nil)
        case 5: cancel()
        default: now += .milliseconds(Int(draw >> 8 % 5_000))
        }
        release()
        if machine.waiting != waiting.count { finding = finding ?? "\(machine.waiting) wait, not \(waiting.count)" }
        let isHeld = waiting.isEmpty || (machine.nextRelease(at: now) ?? .zero) >= pauseEnd
        if !isHeld { finding = finding ?? "somebody would be released early" }
    }

    private mutating func ask() {
        switch machine.ask(asker, at: now) {
        case .go(let number):
            underWay.append(number)
            if now < pauseEnd || !waiting.isEmpty { finding = finding ?? "somebody overtook the others" }
        case .wait:
            lastName += 1
            let isFirst = Double(generator.next() % 5) / 4
            machine.wait(.init(waiter: NamedWaiter("\(lastName)"), start: now, asker: asker), draw: isFirst)
            waiting.append("\(lastName)")
        case .refuse(let refusal):
            if waiting.count < 3 { finding = finding ?? "\(refusal), but only \(waiting.count) wait" }
        }
    }

    private mutating func answer(ordering pause: Duration?) {
        guard let number = underWay.popLast() else { return }
        if let pause { pauseEnd = max(pauseEnd, now + pause) }
        let turnedAway = machine.answered(number, limits: [], retryAfter: pause, at: now).map(\.waiter.id)
        waiting.removeAll { turnedAway.contains($0) }
    }

    private mutating func cancel() {
        guard let id = waiting.randomElement(using: &generator) else { return }
        waiting.removeAll { $0 == id }
        if machine.cancel(id)?.id != id { finding = finding ?? "who was cancelled did not wait" }
    }

    private mutating func release() {
        let draw = Double(generator.next() % 5) / 4
        while let (waiter, number) = machine.release(at: now, draw: draw) {
            underWay.append(number)
            if now < pauseEnd { finding = finding ?? "released early" }
            if waiting.first != waiter.id { finding = finding ?? "\(waiter.id) was released before \(waiting)" }
            waiting.removeAll { $0 == waiter.id }
        }
    }
}

/// A server that takes two requests in 10 s and tells so, and five requests, of which some are cancelled.
private struct PacingWorld: VisitedWorld {
    private struct Record {
        /// How many the server has counted in each of its windows.
        var windows: [Int: Int] = [:]
        var atServer = 0
        var outcomes: [String: Int] = [:]
        var ended = 0
    }

    private let clock = ManualClock()
    private let pacing: Pacing
    let visits: [Visit]
    private let record = Locked(Record())

    init(_ generator: inout SeededGenerator) {
        pacing = Pacing(interval: .seconds(1), clock: clock, random: FixedRandomSource(0.5))
        visits = (0..<5).map { _ in Visit(&generator, starts: 4) }
    }

    func run() async {
        // The first has its answer, and with it the limit, before the others come.
        await make(visits[0])
        let tasks = visits.dropFirst().map { visit in BackgroundTask.start { await make(visit) } }
        for (visit, task) in zip(visits.dropFirst(), tasks) {
            await Task.yield()
            if visit.isCancelled { task.cancel() }
        }
        // A task that waits for ever makes the simulation give up and name its seed.
        while record.withLock({ $0.ended }) < visits.count {
            // No time passes between the server's count and the client's knowing of it: then the limit is kept strictly.
            if record.withLock({ $0.atServer }) == 0 { clock.advance(by: .seconds(3)) }
            await Task.yield()
        }
    }

    func make(_ visit: Visit) async {
        await visit.begin()
        let outcome = await pacing.outcome(of: trafficRequest) { try await send(visit) }
        record.withLock { record in
            record.outcomes[outcome, default: 0] += 1
            record.ended += 1
        }
    }

    private func send(_ visit: Visit) async throws -> HttpResponse<Data> {
        let now = Int(clock.now.offset / .seconds(1))
        let used = record.withLock { record in
            record.atServer += 1
            record.windows[now / 10, default: 0] += 1
            return record.windows[now / 10] ?? 0
        }
        let header: HttpHeader = [
            "RateLimit-Policy": "\"a\";q=2;w=10", "RateLimit": .init("\"a\";r=\(max(0, 2 - used));t=\(10 - now % 10)"),
        ]
        defer { record.withLock { $0.atServer -= 1 } }
        try await visit.work()
        return .test(used > 2 ? 429 : 200, header: header)
    }

    func findings() -> [String] {
        let record = record.withLock { $0 }
        var findings: [String] = []
        if record.windows.values.contains(where: { $0 > 2 }) { findings.append("over the limit: \(record.windows)") }
        let expected = (record.outcomes["200"] ?? 0) + (record.outcomes["cancelled"] ?? 0)
        if expected != visits.count { findings.append("outcomes: \(record.outcomes)") }
        if pacing.waitingCount(for: trafficOrigin) != 0 { findings.append("somebody waits still") }
        return findings
    }
}
