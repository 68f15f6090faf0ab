import ChildProcesses
import Foundation
import Testing

@testable import notes

@Suite("notes: a race of processes", .serialized, .timeLimit(.minutes(10)))
struct RaceCommandTests {
    private struct Figures: Decodable, Hashable {
        let processes: Int
        let rounds: Int
        let calls: Int
        let succeeded: Int
        let refreshes: Int
        let reuseDetected: Int
    }

    @Test(
        "twenty processes, three expiries: one refresh each, no refresh token used twice, no call lost",
        arguments: RaceExpiry.allCases
    )
    func race(_ expiry: RaceExpiry) async throws {
        let race = try await ProcessTurn.shared.run {
            try await NotesTool().run(
                "race",
                "--processes",
                "20",
                "--rounds",
                "3",
                "--expiry",
                expiry.rawValue,
                "--json"
            )
        }
        #expect(race.code == 0 && race.errors.isEmpty, "\(race)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let figures = try decoder.decode(Figures.self, from: Data(race.output.utf8))
        let expected = Figures(processes: 20, rounds: 3, calls: 60, succeeded: 60, refreshes: 3, reuseDetected: 0)
        #expect(figures == expected)
    }

    @Test(
        "a round is good only if every call succeeded, with one refresh and no reuse",
        arguments: [(2, 1, 0, true), (1, 1, 0, false), (2, 0, 0, false), (2, 2, 0, false), (2, 1, 1, false)]
    )
    func verdict(_ succeeded: Int, _ refreshes: Int, _ reuse: Int, _ isGood: Bool) {
        let finishes = (0..<2).map { number in
            Runner.Finish(
                hasSucceeded: number < succeeded,
                time: .milliseconds(number),
                complaint: number < succeeded ? nil : "notes: no"
            )
        }
        let round = RaceRound(
            finishes: finishes,
            requests: 2,
            rejected: 0,
            tokenRequests: refreshes,
            refreshes: refreshes,
            reuseDetected: reuse
        )
        let report = RaceReport(processes: 2, rounds: [round])
        #expect(report.isGood == isGood)
        #expect(report.verdict.contains("went wrong") == !isGood)
        #expect(report.verdict.contains("notes: no") == (succeeded < 2))
    }
}
