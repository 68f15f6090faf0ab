import TestSupport
import Testing

@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("The two sends of a hedged attempt", .endsInTime)
struct HedgeRaceTests {
    /// Ends at once when it is cancelled, and otherwise after all others have had their turn a thousand times.
    @Sendable private static func send() async -> HedgedExchange.Outcome {
        for _ in 0..<1_000 where !Task.isCancelled { await Task.yield() }
        return .failure(Task.isCancelled ? CancellationError() : NotCancelled())
    }

    private struct NotCancelled: Error {}

    @Test("sends that start after the race was cancelled are cancelled", arguments: [CallTrace.Sending.first, .second])
    func cancelledBefore(sending: CallTrace.Sending) async throws {
        let race = HedgeRace()
        race.cancel()
        race.start(sending, Self.send)
        guard case .ended(let ended, let outcome) = await race.next(), case .failure(let error) = outcome else {
            throw NotCancelled()
        }
        #expect(ended == sending)
        #expect(error is CancellationError)
    }

    @Test("a race that is cancelled cancels both sends; the end of each is told")
    func cancelled() async {
        let race = HedgeRace()
        race.start(.first, Self.send)
        race.start(.second, Self.send)
        race.cancel()
        var ends: [CallTrace.Sending: Bool] = [:]
        for _ in 0..<2 {
            guard case .ended(let sending, let outcome) = await race.next() else { continue }
            if case .failure(let error) = outcome { ends[sending] = error is CancellationError }
        }
        #expect(ends == [.first: true, .second: true])
    }

    @Test("an answer that comes with the end of the delay is told first, and the delay after it")
    func answerFirst() async {
        let race = HedgeRace()
        race.start(.first) { .failure(NotCancelled()) }
        // The answer is there before anything is asked for.
        for _ in 0..<1_000 { await Task.yield() }
        race.delayPassed()
        var reports: [String] = []
        for _ in 0..<2 {
            switch await race.next() {
            case .ended: reports.append("answer")
            case .delayPassed: reports.append("delay")
            }
        }
        #expect(reports == ["answer", "delay"])
    }
}
