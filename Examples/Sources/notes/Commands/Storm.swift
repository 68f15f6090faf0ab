import ArgumentParser
import DemoServers
import Foundation

/// Kills the process that refreshes, again and again, while others share its session, and counts the sessions that are lost.
struct Storm: NotesCommand {
    static let configuration = CommandConfiguration(
        abstract: "Kill a process that refreshes, while others use the same login.",
        discussion: """
            For each round it starts a server, keeps an expired login in a temporary folder, has one process refresh it \
            and others list notes, and kills the first one with SIGKILL: before or after the server has rotated the \
            refresh token, with and without a grace for a second use of it. Exit code 0 means that every session that \
            the server could keep was kept, and that every call on it succeeded.
            """
    )

    @Option(help: "How many rounds of each of the four kinds, 1...100.")
    var rounds = 20

    @Option(help: "How many processes call beside the one that is killed, 1...100.")
    var processes = 5

    @Flag(help: "Print one JSON object instead of a table.")
    var json = false

    func validate() throws {
        guard (1...100).contains(rounds) else { throw ValidationError("--rounds must be 1...100; it is \(rounds).") }
        guard (1...100).contains(processes) else {
            throw ValidationError("--processes must be 1...100; it is \(processes).")
        }
    }

    func execute() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-storm-\(UUID().uuidString)")
        let interruption = Interruption {
            try? FileManager.default.removeItem(at: folder)
            EndStatus.stopped.end()
        }
        defer {
            interruption.end()
            try? FileManager.default.removeItem(at: folder)
        }
        let report = try await report(folder: folder)
        Output.line(json ? try report.json : "\n" + report.verdict)
        guard report.isGood else { throw EndStatus.failure.code }
    }

    private func report(folder: URL) async throws -> StormReport {
        FileLimit.raise()
        if !json { Output.line(introduction) }
        var results: [StormRound] = []
        for kind in StormKind.all {
            var ofKind: [StormRound] = []
            for _ in 1...rounds {
                ofKind.append(try await StormWorld.round(kind, processes: processes, folder: folder))
            }
            if !json { Output.line(StormTable.row(kind, ofKind)) }
            results += ofKind
        }
        return StormReport(processes: processes, rounds: results)
    }

    private var introduction: String {
        """
        One process refreshes and is killed, \(processes) others use the same login meanwhile.

        \(StormTable.header)
        """
    }
}
