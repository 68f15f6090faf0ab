import ArgumentParser
import DemoServers
import Foundation
import NautilusOAuth

/// Has many processes meet one expired token at the same moment, and counts the refreshes.
struct Race: NotesCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have many processes use one expired login at the same moment.",
        discussion: """
            It starts a server, signs in once into a temporary folder, lets the access token expire, starts this \
            program many times over, and has all of them list notes at the same moment. Exit code 0 means that every \
            call succeeded, with one refresh per expiry and no refresh token used twice.
            """
    )

    @Option(help: "How many processes, 1...100.")
    var processes = 20

    @Option(help: "How many times the token expires and all call, 1...100.")
    var rounds = 1

    @Option(help: "How the token ends: known, its time is over; rejected, the server ends it early.")
    var expiry = RaceExpiry.known

    @Flag(help: "Print one JSON object instead of a table.")
    var json = false

    func validate() throws {
        guard (1...100).contains(processes) else {
            throw ValidationError("--processes must be 1...100; it is \(processes).")
        }
        guard (1...100).contains(rounds) else { throw ValidationError("--rounds must be 1...100; it is \(rounds).") }
    }

    func execute() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-race-\(UUID().uuidString)")
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

    private func report(folder: URL) async throws -> RaceReport {
        FileLimit.raise()
        let track = try await RaceTrack(folder: folder)
        if !json { Output.line(introduction) }
        var results: [RaceRound] = []
        for number in 1...rounds {
            let round = try await track.run(processes: processes, expiry: expiry)
            if !json { Output.line(RaceTable.row(number, round)) }
            results.append(round)
        }
        await track.close()
        return RaceReport(processes: processes, rounds: results)
    }

    private var introduction: String {
        let end =
            switch expiry {
            case .known: "Its access token expires before each round"
            case .rejected: "The server ends its access token early, before each round"
            }
        return """
            \(processes) processes share one login. \(end);
            then all of them list notes at the same moment.

            \(RaceTable.header)
            """
    }
}
