import DemoServers
import SessionCommands
import Testing

@Suite("Processes that share a session", .serialized, .timeLimit(.minutes(10)))
struct SharedRefreshTests {
    private static let count = 20
    private static let rounds = 4

    @Test("twenty that start with an expired credential all succeed, with one refresh among them, in each round")
    func expired() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            let children = try await start(in: world)
            for round in 1...Self.rounds {
                // The first finds what was stored; each later one what another user's sign-in has stored.
                if round > 1 { #expect(try await children[0].ask(.signIn(await world.tokens())).failure == []) }
                let outcomes = try await callAtOnce(children)
                #expect(outcomes.map(\.failure) == Array(repeating: [], count: Self.count))
                // No process has sent anything but the fresh token: the second that was issued in this round.
                #expect(outcomes.flatMap(\.sent) == Array(repeating: 2 * round, count: Self.count))
                #expect(await world.server.counters.refreshes == round)
            }
            let counters = await world.server.counters
            #expect(counters.answers == [200: Self.count * Self.rounds])
            #expect(counters.reuseDetected == 0)
        }
    }

    @Test("twenty that are rejected all succeed at the second attempt, with one refresh among them, in each round")
    func rejected() async throws {
        // In the first round everybody is rejected before anybody refreshes.
        let barriers = DemoServer.Barriers(unauthorized: Barrier(opensAt: Self.count))
        try await SessionWorld.run(barriers: barriers) { world in
            try await world.signIn(isExpired: false)
            let children = try await start(in: world)
            for round in 1...Self.rounds {
                await world.server.revokeAccessTokens()
                let outcomes = try await callAtOnce(children)
                #expect(outcomes.map(\.failure) == Array(repeating: [], count: Self.count))
                #expect(outcomes.map(\.sent.last) == Array(repeating: round + 1, count: Self.count))
                if round == 1 { #expect(outcomes.map(\.sent) == Array(repeating: [1, 2], count: Self.count)) }
                #expect(await world.server.counters.refreshes == round)
            }
            #expect(await world.server.counters.reuseDetected == 0)
        }
    }

    @Test("twenty that all sign in at once agree on one of them, who has not been told otherwise")
    func signIns() async throws {
        try await SessionWorld.run { world in
            let children = try await start(in: world)
            for child in children { try child.tell(.signIn(await world.tokens(isExpired: false))) }
            var signIns: [[String]] = []
            for child in children { signIns.append(try await child.reply().failure) }
            // A process that comes too late may be told so.
            #expect(Set(signIns).subtracting([[], ["superseded"]]) == [])
            let outcomes = try await callAtOnce(children)
            #expect(outcomes.map(\.failure) == Array(repeating: [], count: Self.count))
            // Tokens are numbered from 1, in the order of the children.
            let winner = try #require(outcomes.first?.sent.first)
            #expect(outcomes.map(\.sent) == Array(repeating: [winner], count: Self.count))
            #expect(signIns[winner - 1] == [])
            #expect(await world.server.counters.refreshes == 0)
        }
    }

    @Test(
        "ten are not troubled by ten others that are killed, each as soon as it is about to refresh",
        .enabled(if: SessionFault.reachesSystemCalls)
    )
    func killedOnTheWay() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            let children = try await start(in: world)
            let (doomed, others) = (children.prefix(Self.count / 2), children.suffix(Self.count / 2))
            for child in doomed {
                _ = try await child.ask(.plan(.system(.rename, .killBefore, on: .credential)))
                try child.tell(.call)
            }
            let outcomes = try await callAtOnce(Array(others))
            #expect(outcomes.map(\.failure) == Array(repeating: [], count: others.count))
            #expect(outcomes.map(\.sent) == Array(repeating: [2], count: others.count))
            let counters = await world.server.counters
            #expect(counters.refreshes == 1)
            #expect(counters.reuseDetected == 0)
        }
    }

    private func start(in world: SessionWorld) async throws -> [SessionChild] {
        var children: [SessionChild] = []
        for _ in 0..<Self.count { children.append(try await world.start()) }
        return children
    }

    private func callAtOnce(_ children: [SessionChild]) async throws -> [SessionOutcome] {
        for child in children { try child.tell(.call) }
        var outcomes: [SessionOutcome] = []
        for child in children { outcomes.append(try await child.reply()) }
        return outcomes
    }
}
