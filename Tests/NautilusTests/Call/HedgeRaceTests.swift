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

    @Test("a place in line is given back once no send needs it", arguments: [true, false])
    func place(secondWins: Bool) async {
        let (race, left) = (HedgeRace(), Locked(0))
        let (endOfFirst, endFirst) = AsyncStream.makeStream(of: Never.self)
        race.start(.first) {
            for await _ in endOfFirst {}
            return RedirectFollower.Outcome(ending: .failed(NotCancelled()), redirects: nil, exchange: nil)
        }
        race.start(.second, leaving: { left.withLock { $0 += 1 } }) {
            RedirectFollower.Outcome(ending: .failed(NotCancelled()), redirects: nil, exchange: nil)
        }
        _ = await race.next()
        if !secondWins { race.secondHasLost() }
        // The first send still has the place of the attempt, if that goes on, and this one otherwise.
        #expect(left.withLock { $0 } == (secondWins ? 0 : 1))
        endFirst.finish()
        _ = await race.next()
        #expect(left.withLock { $0 } == 1)
    }

    @Test("an answer that comes with the end of the delay is told first, and the delay after it")
    func answerFirst() async {
        let race = HedgeRace()
        race.start(.first) { RedirectFollower.Outcome(ending: .failed(NotCancelled()), redirects: nil, exchange: nil) }
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
