import ArgumentParser

/// A command-line tool for notes: it signs in by device code, keeps its credential in a folder, and may run many times
/// at once.
@main
struct Notes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notes",
        abstract: "Reads and writes notes, signed in by device code.",
        discussion: """
            Try it with two terminals: "notes serve" in one, "notes login" and "notes list" in the other.

            The server is --server, or else NOTES_SERVER, or else \(ServerUrl.standard). The credential is kept in the \
            folder --store, or else NOTES_STORE, or else in this user's state directory. It may be shared by any \
            number of processes: they refresh it once.

            Exit codes:
            \(EndStatus.table)
            """,
        subcommands: [
            Login.self, List.self, Show.self, Add.self, Delete.self, Status.self, Logout.self, Serve.self, Race.self,
            Storm.self,
        ]
    )
}
