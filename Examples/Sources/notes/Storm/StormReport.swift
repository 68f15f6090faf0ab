import Foundation

/// The result of all rounds of a storm.
struct StormReport: Sendable {
    let processes: Int
    let rounds: [StormRound]

    var isGood: Bool { rounds.allSatisfy(\.isGood) }
    /// How many sessions are gone that the server would have gone on with.
    var sessionsLost: Int { rounds.count(where: \.isLost) }
    var longestCall: Duration { rounds.map(\.longestCall).max() ?? .zero }

    /// One object, its keys in a fixed order.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            encoder.keyEncodingStrategy = .convertToSnakeCase
            return String(decoding: try encoder.encode(Figures(self)), as: UTF8.self)
        }
    }

    /// The figures that matter, and what was wrong if anything was.
    var verdict: String {
        let figures = """
            Sessions lost that the server could have kept: \(sessionsLost)
            Longest call of a process that was not killed: \(longestCall.milliseconds) ms
            """
        guard let bad = rounds.first(where: { !$0.isGood }) else { return figures }
        let complaint = bad.finishes.lazy.compactMap(\.complaint).first
        return figures + "\nIt went wrong, first where one was killed \(bad.kind.moment.rawValue). "
            + (complaint.map { "The first complaint: \($0)" } ?? "Nobody complained, but see the counts.")
    }

    private struct Figures: Encodable {
        let processes: Int
        let rounds: Int
        let sessionsKept: Int
        let sessionsEndedByServer: Int
        let sessionsLost: Int
        let calls: Int
        let succeeded: Int
        let longestCallMs: Int64

        init(_ report: StormReport) {
            let rounds = report.rounds
            processes = report.processes
            self.rounds = rounds.count
            sessionsKept = rounds.count(where: \.isKept)
            sessionsLost = report.sessionsLost
            sessionsEndedByServer = rounds.count - sessionsKept - sessionsLost
            calls = rounds.reduce(0) { $0 + $1.finishes.count }
            succeeded = rounds.reduce(0) { $0 + $1.succeeded }
            longestCallMs = report.longestCall.milliseconds
        }
    }
}
