import Nautilus
import NautilusOAuth
import TestSupport
import Testing

@Suite("A call during another process's refresh")
struct KilledRefresherTests {
    /// Calls of other processes, and how long the longest took.
    private struct Outcome {
        let results: [CallResult]
        let longest: Duration
    }

    @Test(
        "before the server rotates goes on at once: the lock is free, and the note costs nothing",
        arguments: [Duration.milliseconds(10), .seconds(5), .seconds(29)]
    )
    func killed(after delay: Duration) async throws {
        try await SessionWorld.run { world in
            let outcome = try await calls(in: world, killedAfter: delay)
            #expect(outcome.results.okCount == 5)
            // The pause of at most 50 ms between two looks at the lock, twice, a refresh of 100 ms and a call of 10 ms.
            #expect(outcome.longest <= delay + .milliseconds(210))
            #expect(world.server.tokenRequests == 1)
            #expect(world.server.reuses == 0)
        }
    }

    @Test(
        "a call ends within a minute, though five processes refresh one after the other without an answer",
        arguments: [Duration.milliseconds(10), .seconds(5), .seconds(9), .seconds(15), .seconds(29)],
        0..<UInt64(trials(1))
    )
    func silent(after delay: Duration, seed: UInt64) async throws {
        try await SessionWorld.run(seed: seed) { world in
            world.server.setDelay(.seconds(3600))
            let outcome = try await calls(in: world, killedAfter: delay)
            #expect(outcome.results.okCount == 0)
            #expect(outcome.results.allSatisfy { $0.error?.isTransient == true })
            // 30 s until the last refresh begins, then the lock, which others hold for 7 s each, and 7 s the request.
            #expect(outcome.longest <= .seconds(60))
            #expect(try await world.stored(world.process()) != nil)
        }
    }

    @Test("a call that waits for another process's refresh ends at its deadline")
    func deadline() async throws {
        try await SessionWorld.run { world in
            world.server.setDelay(.seconds(3600))
            let outcome = try await calls(GetNotes(deadline: .seconds(10)), in: world, killedAfter: .seconds(5))
            #expect(outcome.results.okCount == 0)
            #expect(outcome.longest == .seconds(10))
        }
    }

    /// Has a process be killed that has marked the token, and five others call as soon as it has.
    private func calls(
        _ request: GetNotes = GetNotes(),
        in world: SessionWorld,
        killedAfter delay: Duration
    ) async throws -> Outcome {
        let killed = try await world.signedIn()
        let lock = try #require(try await world.store.lock(killed.key))
        var stored = try #require(try await world.stored(killed))
        stored.unanswered = 1
        try await world.store.save(stored, for: killed.key)
        try await world.sleep(.seconds(3600))
        return await withTaskGroup(of: (CallResult?, Duration).self) { group in
            let start = world.clock.now
            for _ in 0..<5 {
                group.addTask {
                    let result = await world.call(world.process(), request)
                    return (result, start.duration(to: world.clock.now))
                }
            }
            group.addTask {
                try? await world.sleep(delay)
                lock.unlock()
                return (nil, .zero)
            }
            var (results, longest): ([CallResult], Duration) = ([], .zero)
            for await (result, time) in group {
                if let result { results.append(result) }
                longest = max(longest, time)
            }
            return Outcome(results: results, longest: longest)
        }
    }
}
