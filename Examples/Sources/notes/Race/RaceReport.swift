import Foundation

/// The result of all rounds of a race.
struct RaceReport: Sendable {
    let processes: Int
    let rounds: [RaceRound]

    var isGood: Bool { rounds.allSatisfy(\.isGood) }

    /// One object, its keys in a fixed order.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            encoder.keyEncodingStrategy = .convertToSnakeCase
            return String(decoding: try encoder.encode(Figures(self)), as: UTF8.self)
        }
    }

    /// A sentence that says what was wrong, or that nothing was.
    var verdict: String {
        guard let bad = rounds.first(where: { !$0.isGood }) else {
            return "Every call succeeded: one refresh per expiry, and no refresh token used twice."
        }
        let complaint = bad.finishes.lazy.compactMap(\.complaint).first
        return "It went wrong. "
            + (complaint.map { "The first complaint: \($0)" } ?? "Nobody complained, but see the counts.")
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
