import ChildProcesses
import Foundation
import Testing

@testable import notes

@Suite("notes: a storm of kills", .serialized, .timeLimit(.minutes(10)))
struct StormCommandTests {
    private struct Figures: Decodable, Hashable {
        let processes: Int
        let rounds: Int
        let sessionsKept: Int
        let sessionsEndedByServer: Int
        let sessionsLost: Int
        let calls: Int
        let succeeded: Int
    }

    private struct Time: Decodable {
        let longestCallMs: Int
    }

    @Test("no session is lost that the server could have kept, and no call waits longer than for one refresh")
    func storm() async throws {
        let storm = try await ProcessTurn.shared.run {
            try await NotesTool().run("storm", "--rounds", "2", "--processes", "4", "--json")
        }
        #expect(storm.code == 0 && storm.errors.isEmpty, "\(storm)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let figures = try decoder.decode(Figures.self, from: Data(storm.output.utf8))
        let expected = Figures(
            processes: 4,
            rounds: 8,
            sessionsKept: 6,
            // The token was spent, and the server grants no grace.
            sessionsEndedByServer: 2,
            sessionsLost: 0,
            calls: 32,
            succeeded: 24
        )
        #expect(figures == expected)
        // Far above the 200 ms that it takes, and far below the first time limit that something could run into.
        #expect(try decoder.decode(Time.self, from: Data(storm.output.utf8)).longestCallMs < 15_000)
    }

    @Test(
        "a session is lost if it is gone though the server goes on with it",
        arguments: StormKind.all,
        [(true, 2), (true, 1), (false, 0)]
    )
    func verdict(_ kind: StormKind, _ outcome: (isKept: Bool, succeeded: Int)) {
        let finishes = (0..<2).map { number in
            Runner.Finish(
                hasSucceeded: number < outcome.succeeded,
                time: .milliseconds(number),
                complaint: number < outcome.succeeded ? nil : "notes: no"
            )
        }
        let round = StormRound(kind: kind, finishes: finishes, isKept: outcome.isKept)
        let report = StormReport(processes: 2, rounds: [round])
        let isEndedByServer = kind == StormKind(moment: .afterRotation, grace: .zero)
        #expect(report.sessionsLost == (outcome.isKept || isEndedByServer ? 0 : 1))
        #expect(report.isGood == (isEndedByServer ? !outcome.isKept : outcome.succeeded == 2))
        #expect(report.verdict.contains("went wrong") == !report.isGood)
        #expect(report.verdict.contains("could have kept: \(report.sessionsLost)\n"))
        #expect(report.verdict.contains("not killed: 1 ms"))
    }
}
