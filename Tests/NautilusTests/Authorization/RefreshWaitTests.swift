import Testing

@testable import Nautilus

@Suite("RefreshCore: waiting for the end of a refresh", .endsInTime)
struct RefreshWaitTests {
    /// Waits while `holds`, and says what became of it.
    private func wait(_ core: Locked<RefreshCore>, while holds: @Sendable (RefreshState) -> Bool) async throws -> String
    {
        let text = Locked("")
        try await core.wait { core, waiter in
            core.wait(waiter, while: holds)
        } joined: { effects, waiter in
            if case .pass(let passed)? = effects.first {
                text.withLock { $0 = "passed" }
                passed.resume()
            } else {
                text.withLock { $0 = "waits" }
                // The test is not to wait for a waiter that is never resumed.
                waiter.resume()
            }
        } leave: { _, _ in
            nil
        }
        return text.withLock { $0 }
    }

    @Test("one that comes when nothing holds any more passes, and is not left in the line")
    func nothingHolds() async throws {
        let core = Locked(RefreshCore(limits: RefreshLimits()))
        #expect(try await wait(core) { _ in false } == "passed")
        #expect(core.withLock { $0.waiters.count } == 0)
    }

    @Test("one that comes while something holds waits")
    func holds() async throws {
        let core = Locked(RefreshCore(limits: RefreshLimits()))
        #expect(try await wait(core) { _ in true } == "waits")
        #expect(core.withLock { $0.waiters.count } == 1)
    }
}
