import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("Hedging: a thousand interleavings")
struct HedgeInterleavingTests {
    @Test("every send that is started is answered, fails or is cancelled, each hedge is paid for, and no slot is lost")
    func manySeeds() async throws {
        try await forEachSeed(10) { seed in
            let findings = try await simulate(seed: seed) { simulation in
                let worlds = (0..<100 as Range<UInt64>).map { HedgedCalls(seed: seed &* 1_000 &+ $0, simulation.clock) }
                await withTaskGroup(of: Void.self) { group in
                    for world in worlds { group.addTask { await world.run() } }
                }
                // The sends that have lost end by themselves.
                await simulation.clock.run()
                return worlds.flatMap { $0.findings() }
            }
            try #require(findings.isEmpty, "seed \(seed): \(findings.prefix(3))")
        }
    }
}

@Suite("Hedging: an answer at the moment of the second send")
struct HedgeMomentTests {
    @Test("each request that goes out is in the trace")
    func sameMoment() async throws {
        for seed in 0..<300 as Range<UInt64> {
            let (recorded, sent) = try await simulate(seed: seed) { simulation in
                let clock = simulation.clock
                let transport = ScriptedTransport(clock: clock) { _, _ in
                    .delay(.milliseconds(100), then: .status(200))
                }
                let service = AnyHttpService<HttpError>(apiUrl: "a.com", transport: transport, clock: clock).with {
                    $0.interceptors.append(
                        Hedging(
                            after: .fixed(.milliseconds(100)),
                            latencies: OriginLatencies(clock: clock),
                            budget: .unlimited
                        )
                    )
                }
                let response = try await AnyRequest(.get, ["a"]).response(with: service)
                await clock.run()
                return (response.trace.attempts.flatMap(\.exchanges).count, transport.count)
            }
            try #require(recorded == sent, "seed \(seed)")
        }
    }
}

/// Three calls that may hedge after 2 ms, over two slots and a little budget, of which some are given up.
private struct HedgedCalls: Sendable {
    private struct Record {
        var (started, answered, failed, cancelled) = (0, 0, 0, 0)
        var lastEnd = Duration.zero
        var outcomes: [Outcome] = []
    }

    private enum End: Sendable {
        case answer(Int), failure
    }

    private let clock: ManualClock
    private let calls: [(request: Ping, start: Duration, cancelledAfter: Duration?)]
    private let sends: [(duration: Duration, end: End)]
    private let limit = ConcurrencyLimit(3)
    private let budget = QuotaBudget(capacity: 1_000, initial: 28)
    private let record = Locked(Record())

    init(seed: UInt64, _ clock: ManualClock) {
        var generator = SeededGenerator(seed: seed)
        self.clock = clock
        func milliseconds(_ range: ClosedRange<Int64>) -> Duration {
            .milliseconds(Int64.random(in: range, using: &generator))
        }
        calls = (0..<3).map { _ in
            let request = Ping(
                timeout: Bool.random(using: &generator) ? milliseconds(1...5) : nil,
                deadline: Int.random(in: 0..<4, using: &generator) == 0 ? milliseconds(1...5) : nil
            )
            let isCancelled = Int.random(in: 0..<4, using: &generator) == 0
            return (request, milliseconds(0...2), isCancelled ? milliseconds(0...4) : nil)
        }
        sends = (0..<6).map { _ in
            let ends: [End] = [.answer(200), .answer(200), .answer(503), .answer(404), .failure]
            let isSilent = Int.random(in: 0..<4, using: &generator) == 0
            return (isSilent ? .seconds(1) : milliseconds(0...4), ends[Int.random(in: 0..<5, using: &generator)])
        }
    }

    func run() async {
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [limit],
            transport: Transport(send: send),
            clock: clock
        ).with {
            $0.interceptors.append(
                Hedging(
                    after: .fixed(.milliseconds(2)),
                    latencies: OriginLatencies(clock: clock),
                    budget: .shared(budget)
                )
            )
        }
        await withTaskGroup(of: Void.self) { group in
            for call in calls { group.addTask { await run(call.request, call.start, call.cancelledAfter, service) } }
        }
    }

    private func run(
        _ request: Ping,
        _ start: Duration,
        _ cancelledAfter: Duration?,
        _ service: AnyHttpService<HttpError>
    ) async {
        try? await clock.sleep(for: start)
        let task = BackgroundTask.branch {
            let outcome: Outcome
            do throws(HttpError) {
                let response = try await request.response(with: service)
                outcome = Outcome(response: response, error: nil, end: clock.now.offset)
            } catch {
                outcome = Outcome(response: nil, error: error, end: clock.now.offset)
            }
            record.withLock { $0.outcomes.append(outcome) }
        }
        if let cancelledAfter {
            try? await clock.sleep(for: cancelledAfter)
            task.cancel()
        }
        await task.value
    }

    private struct Transport: HttpTransport {
        let send: @Sendable () async throws -> HttpResponse<Data>

        func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
            try await send()
        }
    }

    @Sendable private func send() async throws -> HttpResponse<Data> {
        let number = record.withLock { record in
            defer { record.started += 1 }
            return record.started
        }
        let (duration, end) = sends[number % sends.count]
        defer { record.withLock { $0.lastEnd = clock.now.offset } }
        do {
            try await clock.sleep(for: duration)
        } catch {
            record.withLock { $0.cancelled += 1 }
            throw error
        }
        guard case .answer(let status) = end else {
            record.withLock { $0.failed += 1 }
            throw TransportError.failed(.networkConnectionLost, delivery: .maybeExecuted, reason: "lost")
        }
        record.withLock { $0.answered += 1 }
        return .test(status)
    }

    func findings() -> [String] {
        let record = record.withLock { $0 }
        let attempts = record.outcomes.flatMap(\.trace.attempts)
        let hedges = attempts.filter { if case .sent? = $0.hedge { true } else { false } }
        let wins = record.outcomes.filter { $0.response != nil }
        let hedgedWins = hedges.filter { if case .succeeded = $0.outcome { true } else { false } }
        var findings: [String] = []
        if record.outcomes.count != calls.count { findings.append("\(record.outcomes.count) calls have ended") }
        let ended = record.answered + record.failed + record.cancelled
        if record.started != ended { findings.append("\(record.started) started, \(ended) ended") }
        // A call whose time was over before it was sent has an attempt without a send.
        if record.started > attempts.count + hedges.count { findings.append("more sends than were told of") }
        let lastCall = record.outcomes.map(\.end).max() ?? .zero
        if record.lastEnd > lastCall { findings.append("a send ends \(record.lastEnd - lastCall) after all calls") }
        if limit.underWayCount(to: trafficOrigin) != 0 { findings.append("a slot is lost") }
        let balance = 28 - 14 * hedges.count + 14 * hedgedWins.count + (wins.count - hedgedWins.count)
        if budget.balance != balance { findings.append("a balance of \(budget.balance), not \(balance)") }
        for attempt in hedges {
            guard case .sent(_, let winner) = attempt.hedge else { continue }
            if case .succeeded = attempt.outcome, winner == nil { findings.append("a success that nobody has won") }
        }
        return findings
    }
}
