/// The rounds of a race, one line each, as they end.
enum RaceTable {
    private static let columns = [
        ("round", 5), ("succeeded", 10), ("notes requests", 14), ("rejected", 8), ("token requests", 14),
        ("refreshes", 9), ("reuse", 5), ("longest wait", 12),
    ]

    static var header: String { Table.line(columns.map(\.0), columns) }

    static func row(_ number: Int, _ round: RaceRound) -> String {
        Table.line(
            [
                "\(number)", "\(round.succeeded) of \(round.finishes.count)", "\(round.requests)", "\(round.rejected)",
                "\(round.tokenRequests)", "\(round.refreshes)", "\(round.reuseDetected)",
                "\(round.longestWait.milliseconds) ms",
            ],
            columns
        )
    }
}
