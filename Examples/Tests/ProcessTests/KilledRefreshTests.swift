import DemoServers
import NautilusOAuth
import SessionCommands
import Testing

@Suite(
    "A process that is killed while it refreshes",
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(if: SessionFault.reachesSystemCalls, "only Linux lets a program take the place of calls of the system")
)
struct KilledRefreshTests {
    @Test(
        "a process that is killed while it refreshes leaves a credential that is whole, and a lock that is free",
        arguments: KillStep.all
    )
    func remains(_ step: KillStep) async throws {
        try await SessionWorld.run { world in
            try await killRefresh(at: step.fault, in: world)
            let stored = try await world.stored()
            #expect(stored?.unanswered == (step.isMarked ? 1 : 0))
            #expect((try stored?.credential(as: OAuthCredential.self).lifetime == .zero) == (step.fate != .replaced))
            #expect(await world.server.counters.refreshes == (step.fate == .unspent ? 0 : 1))
            #expect(try await world.endings() == ["json", "lock"] + (step.leavesFile ? ["tmp"] : []))
            // The next process that takes the lock clears away what is left.
            #expect(try await world.isLockFree())
            #expect(try await world.endings() == ["json", "lock"])
        }
    }

    @Test(
        "a process killed before it has spent the token lets the next one refresh",
        arguments: KillStep.all.filter { $0.fate == .unspent },
        [false, true]
    )
    func unspent(_ step: KillStep, hasGrace: Bool) async throws {
        try await SessionWorld.run(hasGrace: hasGrace) { world in
            try await killRefresh(at: step.fault, in: world)
            let outcome = try await world.once(.call)
            #expect(outcome.failure == [])
            #expect(outcome.sent == [2])
            #expect(try await world.stored()?.unanswered == 0)
            #expect(try await world.endings() == ["json", "lock"])
            let counters = await world.server.counters
            #expect(counters.refreshes == 1)
            #expect(counters.graceReuses == 0)
            #expect(counters.reuseDetected == 0)
        }
    }

    @Test(
        "a process killed after it has spent the token costs a second refresh, with a grace period",
        arguments: KillStep.all.filter { $0.fate == .spent }
    )
    func spentWithGrace(_ step: KillStep) async throws {
        try await SessionWorld.run(hasGrace: true) { world in
            try await killRefresh(at: step.fault, in: world)
            for _ in 1...2 {
                let outcome = try await world.once(.call)
                #expect(outcome.failure == [])
                #expect(outcome.sent == [2])
            }
            #expect(try await world.stored()?.unanswered == 0)
            #expect(try await world.endings() == ["json", "lock"])
            let counters = await world.server.counters
            #expect(counters.refreshes == 2)
            #expect(counters.graceReuses == 1)
            #expect(counters.reuseDetected == 0)
        }
    }

    @Test(
        "a process killed after it has spent the token ends the session without a grace period",
        arguments: KillStep.all.filter { $0.fate == .spent }
    )
    func spentWithoutGrace(_ step: KillStep) async throws {
        try await SessionWorld.run { world in
            try await killRefresh(at: step.fault, in: world)
            let second = try await world.once(.call)
            #expect(second.failure == ["authorization", "sessionExpired", "invalidGrant"])
            #expect(second.sent == [])
            #expect(try await world.stored() == nil)
            #expect(try await world.endings() == ["json", "lock"], "it says that the session has expired")

            let third = try await world.once(.call)
            #expect(third.failure == ["authorization", "sessionExpired", "expired"])
            let counters = await world.server.counters
            #expect(counters.refreshes == 2)
            #expect(counters.reuseDetected == 1)
            #expect(counters.requests == 0)
        }
    }

    @Test(
        "a process killed after it has stored the new token costs the next one nothing",
        arguments: KillStep.all.filter { $0.fate == .replaced },
        [false, true]
    )
    func replaced(_ step: KillStep, hasGrace: Bool) async throws {
        try await SessionWorld.run(hasGrace: hasGrace) { world in
            try await killRefresh(at: step.fault, in: world)
            let outcome = try await world.once(.call)
            #expect(outcome.failure == [])
            #expect(outcome.sent == [2])
            let counters = await world.server.counters
            #expect(counters.refreshes == 1)
            #expect(counters.answers == [200: 1])
            #expect(counters.graceReuses == 0)
            #expect(counters.reuseDetected == 0)
        }
    }

    @Test("a process may be killed any number of times before it has marked the token as sent")
    func killedBeforeMark() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            for step in KillStep.all.filter({ !$0.isMarked && $0.fate == .unspent }) {
                try await kill(at: step.fault, in: world)
            }
            #expect(try await world.once(.call).failure == [])
            let counters = await world.server.counters
            #expect(counters.refreshes == 1)
            #expect(counters.reuseDetected == 0)
        }
    }

    @Test(
        "after two processes killed while they refresh, the third asks the server, which has the session",
        arguments: [SessionFault.killBeforeSending(.refresh), .killAfterAnswer(.refresh)],
        [SessionFault.killBeforeSending(.refresh), .killAfterAnswer(.refresh)]
    )
    func killedTwice(_ first: SessionFault, _ second: SessionFault) async throws {
        try await SessionWorld.run(hasGrace: true) { world in
            try await world.signIn()
            try await kill(at: first, in: world)
            try await kill(at: second, in: world)
            let sends = [first, second].filter { $0 == .killAfterAnswer(.refresh) }.count

            let third = try await world.once(.call)
            #expect(third.failure == [])
            #expect(try await world.stored()?.unanswered == 0)
            let counters = await world.server.counters
            #expect(counters.refreshes == sends + 1)
            #expect(counters.reuseDetected == 0)
        }
    }

    /// Signs in with an access token that has expired, and has a process killed that refreshes it.
    private func killRefresh(at fault: SessionFault, in world: SessionWorld) async throws {
        try await world.signIn()
        try await kill(at: fault, in: world)
    }

    private func kill(at fault: SessionFault, in world: SessionWorld) async throws {
        let child = try await world.start(lockWait: .zero)
        #expect(try await child.ask(.plan(fault)).failure == [])
        #expect(try await child.dies(of: .call))
    }
}
