import Nautilus
import TestSupport
import Testing

@testable import NautilusTesting

extension TestKit {
    @Suite("Waiting in vain", .endsInTime)
    struct WaitInVainTests {
        let realClock = ManualClock()
        let clock = ManualClock()

        @Test("after five seconds, a test that waits says what it waits for, and keeps waiting")
        func says() async throws {
            let (lines, said) = AsyncStream.makeStream(of: String.self)
            async let nap: Void = clock.sleep(for: .seconds(60))
            try await clock.waitForSleepers(count: 1)
            async let wait: Void = clock.state.waitForCount(2, of: "sleepers on the clock", on: realClock) {
                said.yield($0)
                said.finish()
            }
            try await realClock.waitForSleepers(count: 1)
            realClock.advance(by: .milliseconds(4_999))
            #expect(realClock.sleeperCount == 1)
            realClock.advance(by: .milliseconds(1))

            var heard: [String] = []
            for await line in lines { heard.append(line) }
            #expect(heard == ["A test still waits for 2 sleepers on the clock after 5 s: there are 1."])

            async let second: Void = clock.sleep(for: .seconds(60))
            try await wait
            clock.advance(by: .seconds(60))
            _ = try await (nap, second)
        }

        @Test("a count that is there already needs no wait")
        func isThere() async throws {
            try await clock.state.waitForCount(0, of: "sleepers on the clock", on: realClock)
            #expect(realClock.sleeps.isEmpty)
        }
    }
}
