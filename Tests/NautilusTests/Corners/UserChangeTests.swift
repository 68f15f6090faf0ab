import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("The user changes before each job of a call", .endsInTime)
struct UserChangeTests {
    private struct Run: Sendable {
        let result: CallResult
        let sent: [String]
        /// How many requests had been sent when the user changed; nil when the user did not change.
        let sentBefore: Int?
        /// How long after the change the call ended.
        let delay: Duration
    }

    @Test(
        "a call of a user who signs out or changes, wherever it waits, never goes out as another user, nor afterwards",
        arguments: UserChange.allCases,
        [false, true]
    )
    func neverAsAnother(change: UserChange, hedges: Bool) async throws {
        var superseded = 0
        try await beforeEachJob(of: { simulation, arm in
            let world = EverythingWorld(simulation, hedges: hedges)
            let changed = Locked<(time: Duration, sent: Int)?>(nil)
            arm {
                change.make(in: world.coordinator)
                changed.withLock { $0 = (world.clock.now.offset, world.transport.count) }
            }
            let result = await Ping.get.result(with: world.service)
            let end = world.clock.now.offset
            // What is left behind has the time to be sent, if it would be.
            await world.clock.run()
            let (time, sentBefore) = changed.withLock { ($0?.time, $0?.sent) }
            return Run(
                result: result,
                sent: world.sentTokens,
                sentBefore: sentBefore,
                delay: time.map { end - $0 } ?? .zero
            )
        }) { run, step in
            let comment = Comment(rawValue: "step \(step.map(String.init) ?? "none")")
            guard let sentBefore = run.sentBefore else {
                #expect(run.result.isOk, comment)
                #expect(run.sent.count == (hedges ? 8 : 4), comment)
                return
            }
            #expect(run.sent.allSatisfy { $0 == "Bearer token-10" || $0 == "Bearer token-11" }, comment)
            #expect(run.sent.count == sentBefore, comment)
            if case .failure(let error) = run.result {
                superseded += 1
                #expect(error.underlying is RefreshError, comment)
            }
            // What is on its way is answered; every wait ends at once.
            #expect(run.delay <= .milliseconds(20), comment)
        }
        #expect(superseded > 20)
    }
}
