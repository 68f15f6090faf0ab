import SessionCommands
import Testing

/// A power failure keeps what was synchronised, and of the rest anything: an order other than these could leave an empty
/// file in the credential's place, or none.
@Suite(
    "Durable writes",
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(if: SessionFault.reachesSystemCalls, "only Linux lets a program take the place of calls of the system")
)
struct SaveStepTests {
    /// The new file is safe before it takes the old one's place, and the place before the save is over.
    private static let save = ["open .tmp", "write .tmp", "fsync .tmp", "rename .json", "fsync folder"]

    /// A session's end is safe before anything is done that relies on it.
    private static let note = ["open .ended", "write .ended", "fsync .ended", "fsync folder"]

    @Test("a sign-in notes the end of the session before; then the new file is safe, and then in the old one's place")
    func save() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            let child = try await world.start()
            _ = try await child.ask(.watch)
            #expect(try await child.ask(.signIn(await world.tokens())).failure == [])
            #expect(try await child.ask(.tellCalls).calls == Self.note + ["open .lock"] + Self.save)
        }
    }

    @Test("the first save synchronises the folder around its own as well, which is new in it")
    func firstSave() async throws {
        try await SessionWorld.run { world in
            let child = try await world.start()
            _ = try await child.ask(.watch)
            #expect(try await child.ask(.signIn(await world.tokens())).failure == [])
            #expect(try await child.ask(.tellCalls).calls == ["fsync parent", "open .lock"] + Self.save)
        }
    }

    @Test("a refresh saves twice: the token is marked, and that is safe, before it is sent")
    func refresh() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            let child = try await world.start()
            _ = try await child.ask(.watch)
            #expect(try await child.ask(.call).failure == [])
            #expect(try await child.ask(.tellCalls).calls == ["open .lock"] + Self.save + Self.save)
        }
    }

    @Test(
        "a sign-out is noted, and that is safe, before it takes the lock; then the record goes, and the note after it"
    )
    func signOut() async throws {
        try await SessionWorld.run { world in
            try await world.signIn(isExpired: false)
            let child = try await world.start()
            _ = try await child.ask(.watch)
            #expect(try await child.ask(.signOut).failure == [])
            // First for a process that is killed right after, then for a power failure as well.
            let note = ["open .ended", "write .ended", "open .ended", "fsync .ended", "fsync folder"]
            let removal = ["open .lock", "unlink .json", "fsync folder", "unlink .ended"]
            #expect(try await child.ask(.tellCalls).calls == note + removal)
        }
    }
}
