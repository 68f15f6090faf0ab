import Testing

@testable import Nautilus

@Suite("The two sends of a hedged attempt", .endsInTime)
struct HedgeRaceTests {
    /// Ends at once when it is cancelled, and otherwise after all others have had their turn a thousand times.
    @Sendable private static func send() async -> RedirectFollower.Outcome {
        for _ in 0..<1_000 where !Task.isCancelled { await Task.yield() }
        let error: any Error = Task.isCancelled ? CancellationError() : NotCancelled()
        return RedirectFollower.Outcome(ending: .failed(error), redirects: nil, exchange: nil)
    }

    private struct NotCancelled: Error {}

    @Test("sends that start after the race was cancelled are cancelled", arguments: [CallTrace.Sending.first, .second])
    func cancelledBefore(sending: CallTrace.Sending) async throws {
        let race = HedgeRace()
        race.cancel()
        race.start(sending, Self.send)
        guard case .ended(let ended, let outcome) = await race.next(), case .failed(let error) = outcome.ending else {
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
            if case .failed(let error) = outcome.ending { ends[sending] = error is CancellationError }
        }
        #expect(ends == [.first: true, .second: true])
    }
}
