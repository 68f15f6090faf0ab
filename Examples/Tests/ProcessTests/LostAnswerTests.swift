import DemoServers
import SessionCommands
import Testing

@Suite("A refresh without an answer", .serialized, .timeLimit(.minutes(10)))
struct LostAnswerTests {
    @Test("a refresh without an answer is sent once more, and succeeds within a grace period")
    func withGrace() async throws {
        try await SessionWorld.run(hasGrace: true) { world in
            try await world.signIn()
            await world.server.loseAnswers()
            let outcome = try await world.once(.call)
            #expect(outcome.failure == [])
            #expect(outcome.sent == [2])
            #expect(try await world.stored()?.unanswered == 0)
            let counters = await world.server.counters
            #expect(counters.refreshes == 2)
            #expect(counters.answersLost == 1)
            #expect(counters.graceReuses == 1)
            #expect(counters.reuseDetected == 0)
        }
    }

    @Test("a refresh without an answer ends the session without a grace period, once for all processes")
    func withoutGrace() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            await world.server.loseAnswers()
            let outcome = try await world.once(.call)
            #expect(outcome.failure == ["authorization", "sessionExpired", "invalidGrant"])
            try await expectEnd(of: world)
            let counters = await world.server.counters
            #expect(counters.refreshes == 2)
            #expect(counters.answersLost == 1)
            #expect(counters.reuseDetected == 1)
        }
    }

    @Test(
        "two lost answers end no session: after a cool-down, the server is asked again and decides",
        arguments: [false, true]
    )
    func twice(hasGrace: Bool) async throws {
        try await SessionWorld.run(hasGrace: hasGrace) { world in
            try await world.signIn()
            await world.server.loseAnswers(next: 2)
            let outcome = try await world.once(.call)
            #expect(outcome.failure == (hasGrace ? [] : ["authorization", "sessionExpired", "invalidGrant"]))
            if !hasGrace { try await expectEnd(of: world) }
            let counters = await world.server.counters
            #expect(counters.refreshes == 3)
            #expect(counters.answersLost == 2)
            #expect(counters.graceReuses == (hasGrace ? 2 : 0))
        }
    }

    @Test("a refresh that never reached the server is sent once more, and succeeds", arguments: [false, true])
    func dropped(hasGrace: Bool) async throws {
        try await SessionWorld.run(hasGrace: hasGrace) { world in
            try await world.signIn()
            await world.server.dropRequests()
            let outcome = try await world.once(.call)
            #expect(outcome.failure == [])
            #expect(outcome.sent == [2])
            #expect(try await world.stored()?.unanswered == 0)
            let counters = await world.server.counters
            #expect(counters.tokenRequestsDropped == 1)
            #expect(counters.refreshes == 1)
            #expect(counters.graceReuses == 0)
            #expect(counters.reuseDetected == 0)
        }
    }

    @Test(
        "a lost answer counts for the next process, which waits for the cool-down after another one"
    )
    func acrossProcesses() async throws {
        try await SessionWorld.run(hasGrace: true) { world in
            try await world.signIn()
            let killed = try await world.start()
            _ = try await killed.ask(.plan(.killAfterAnswer(.refresh)))
            #expect(try await killed.dies(of: .call))

            await world.server.loseAnswers()
            let outcome = try await world.once(.call)
            #expect(outcome.failure == [])
            #expect(try await world.stored()?.unanswered == 0)
            let counters = await world.server.counters
            #expect(counters.refreshes == 3)
            #expect(counters.reuseDetected == 0)
        }
    }

    /// Nothing is stored, and a process that comes now sends nothing.
    private func expectEnd(of world: SessionWorld) async throws {
        let before = await world.server.counters
        #expect(try await world.stored() == nil)
        #expect(try await world.once(.call).failure == ["authorization", "sessionExpired", "expired"])
        #expect(await world.server.counters == before)
    }
}
