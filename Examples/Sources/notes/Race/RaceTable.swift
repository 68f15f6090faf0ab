/// The rounds of a race, one line each, as they end.
enum RaceTable {
    private static let columns = [
        ("round", 5), ("succeeded", 10), ("notes requests", 14), ("rejected", 8), ("token requests", 14),
        ("refreshes", 9), ("reuse", 5), ("longest wait", 12),
    ]

    static var header: String { line(columns.map(\.0)) }

    static func row(_ number: Int, _ round: RaceRound) -> String {
        line([
            "\(number)", "\(round.succeeded) of \(round.finishes.count)", "\(round.requests)", "\(round.rejected)",
            "\(round.tokenRequests)", "\(round.refreshes)", "\(round.reuseDetected)",
            "\(round.longestWait.milliseconds) ms",
        ])
    }

    private static func line(_ cells: [String]) -> String {
        zip(cells, columns).map { cell, column in
            String(repeating: " ", count: max(0, column.1 - cell.count)) + cell
        }.joined(separator: "  ")
    }
}

extension Duration {
    var milliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
