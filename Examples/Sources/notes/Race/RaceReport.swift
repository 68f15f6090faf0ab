import Foundation

/// What all rounds of a race came to, for people and for programs.
struct RaceReport: Sendable {
    let processes: Int
    let rounds: [RaceRound]

    var isGood: Bool { rounds.allSatisfy(\.isGood) }

    /// A row for each round, and the verdict.
    var text: String {
        let columns = [
            "round", "succeeded", "notes requests", "rejected", "token requests", "refreshes", "reuse", "longest",
        ]
        let rows = rounds.enumerated().map { index, round in
            [
                "\(index + 1)", "\(round.succeeded) of \(processes)", "\(round.requests)", "\(round.rejected)",
                "\(round.tokenRequests)", "\(round.refreshes)", "\(round.reuseDetected)",
                "\(round.longestWait.milliseconds) ms",
            ]
        }
        let lines = ([columns] + rows).map { cells in
            zip(cells, columns).map { cell, column in
                String(repeating: " ", count: max(0, max(column.count, 9) - cell.count)) + cell
            }.joined(separator: "  ")
        }
        return (lines + ["", verdict]).joined(separator: "\n")
    }

    /// One object, its keys in a fixed order.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            encoder.keyEncodingStrategy = .convertToSnakeCase
            return String(decoding: try encoder.encode(Figures(self)), as: UTF8.self)
        }
    }

    /// What was wrong, or that nothing was.
    private var verdict: String {
        let shared = "\(processes) processes shared one login"
        guard let bad = rounds.first(where: { !$0.isGood }) else {
            return "\(shared): one refresh per expiry, no refresh token used twice, every call succeeded."
        }
        let complaint = bad.finishes.lazy.compactMap(\.complaint).first
        return "\(shared), and it went wrong; the first complaint: \(complaint ?? "none, but see the counts")"
    }

    private struct Figures: Encodable {
        let processes: Int
        let rounds: Int
        let calls: Int
        let succeeded: Int
        let refreshes: Int
        let reuseDetected: Int
        let waitedMsMax: Int64

        init(_ report: RaceReport) {
            processes = report.processes
            rounds = report.rounds.count
            calls = report.processes * report.rounds.count
            succeeded = report.rounds.reduce(0) { $0 + $1.succeeded }
            refreshes = report.rounds.reduce(0) { $0 + $1.refreshes }
            reuseDetected = report.rounds.reduce(0) { $0 + $1.reuseDetected }
            waitedMsMax = report.rounds.map(\.longestWait.milliseconds).max() ?? 0
        }
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
