import SessionCommands
import Testing

@Suite(
    "A process that is killed while it signs out",
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(if: SessionFault.reachesSystemCalls, "only Linux lets a program take the place of calls of the system")
)
struct KilledSignOutTests {
    /// Where on its way a sign-out is killed.
    struct Step: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fault: SessionFault

        init(
            _ name: String,
            _ call: SessionFault.SystemCall,
            _ effect: SessionFault.Effect,
            _ path: SessionFault.PathEnding,
            number: Int = 1
        ) {
            testDescription = name
            fault = .system(call, effect, on: path, from: number)
        }
    }

    private static let before = [
        Step("before the note's file is opened", .open, .killBefore, .end),
        Step("when the note's file is there", .open, .killAfter, .end),
        Step("before the note is written", .write, .killBefore, .end),
        Step("in the middle of the note", .write, .killAfter, .end),
    ]

    private static let after = [
        Step("before the note is safe", .fsync, .killBefore, .end),
        Step("when the note is safe, and its name is not", .fsync, .killAfter, .end),
        Step("before the note's name is safe", .fsync, .killBefore, .folder),
        Step("when the note's name is safe", .fsync, .killAfter, .folder),
        Step("before it has the lock's file", .open, .killBefore, .lock),
        Step("before the record is removed", .unlink, .killBefore, .credential),
        Step("when the record is removed", .unlink, .killAfter, .credential),
        Step("when that is safe", .fsync, .killAfter, .folder, number: 2),
        Step("before the note is removed", .unlink, .killBefore, .end),
        Step("when the note is removed", .unlink, .killAfter, .end),
    ]

    @Test("a sign-out that is killed before its note signs out nobody, and the next one can", arguments: before)
    func notNoted(_ step: Step) async throws {
        try await SessionWorld.run { world in
            let other = try await killSignOut(at: step, in: world)
            #expect(try await other.ask(.call).sent == [1])
            #expect(try await world.once(.call).sent == [1])
            #expect(try await other.ask(.signOut).failure == [])
            #expect(try await world.once(.call).failure == ["authorization", "signedOut"])
            #expect(try await world.endings() == ["lock"])
        }
    }

    @Test(
        "once there is a note, has signed out everybody, and the record goes as soon as others look",
        arguments: after
    )
    func noted(_ step: Step) async throws {
        try await SessionWorld.run { world in
            let other = try await killSignOut(at: step, in: world)
            #expect(try await world.stored() == nil)
            #expect(try await other.ask(.call).failure == ["authorization", "signedOut"])
            #expect(try await world.once(.call).failure == ["authorization", "signedOut"])
            #expect(await world.server.counters.answers == [200: 1], "the call before")
            while try await world.endings().contains("json") { await Task.yield() }
            // Whoever is next signs in as always.
            let tokens = await world.tokens(isExpired: false)
            #expect(try await world.once(.signIn(tokens)).failure == [])
            #expect(try await other.ask(.call).sent == [2])
        }
    }

    /// - Returns: A process that knows the user who is signed out.
    private func killSignOut(at step: Step, in world: SessionWorld) async throws -> SessionChild {
        try await world.signIn(isExpired: false)
        let (other, child) = (try await world.start(), try await world.start())
        #expect(try await other.ask(.call).sent == [1])
        #expect(try await child.ask(.plan(step.fault)).failure == [])
        #expect(try await child.dies(of: .signOut))
        return other
    }
}
