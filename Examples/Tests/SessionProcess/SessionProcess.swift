import Foundation
import SessionCommands

/// One user's session in a process of its own, which a test tells what to do, and kills.
///
/// Its argument are its ``SessionSettings``; each line of its input is a ``SessionCommand``, each line of its output a
/// ``SessionOutcome``: one once it is ready, one for each command, and one with the session's events at the end.
@main
enum SessionProcess {
    static func main() async throws {
        keepInheritedFiles()
        let argument = CommandLine.arguments.dropFirst().first ?? ""
        let settings = try JSONDecoder().decode(SessionSettings.self, from: Data(argument.utf8))
        var (events, hasFailed) = try await work(settings)
        var last = SessionOutcome()
        // The session is gone by now, and its events end with it.
        last.events = await events.rest()
        try say(last)
        exit(hasFailed ? 1 : 0)
    }

    /// Carries out all commands.
    private static func work(_ settings: SessionSettings) async throws -> (SessionEvents, hasFailed: Bool) {
        var worker = SessionWorker(settings)
        var events = worker.events
        var hasFailed = false
        try say(SessionOutcome())
        while let line = readLine() {
            let command = try JSONDecoder().decode(SessionCommand.self, from: Data(line.utf8))
            let outcome = await worker.carryOut(command, events: &events)
            hasFailed = hasFailed || !outcome.failure.isEmpty
            try say(outcome)
        }
        return (events, hasFailed)
    }

    /// Hands on no file that this process was started with. Its starter watches one of them, to see when it ends.
    private static func keepInheritedFiles() {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
        for file in files.compactMap(Int32.init) where file > 2 { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
    }

    private static func say(_ outcome: SessionOutcome) throws {
        let line = try JSONEncoder().encode(outcome) + Data("\n".utf8)
        // There is no reader any more: the test has ended.
        guard (try? FileHandle.standardOutput.write(contentsOf: line)) != nil else { exit(2) }
    }
}
