/// The kinds of a storm, one line each, as they end.
enum StormTable {
    static var header: String { Table.line(columns.map(\.0), columns) }

    static func row(_ kind: StormKind, _ rounds: [StormRound]) -> String {
        let calls = rounds.reduce(0) { $0 + $1.finishes.count }
        let succeeded = rounds.reduce(0) { $0 + $1.succeeded }
        let kept = rounds.count(where: \.isKept)
        let lost = rounds.count(where: \.isLost)
        return Table.line(
            [
                kind.moment.rawValue, "\(kind.grace.components.seconds) s", "\(rounds.count)", "\(kept)",
                "\(rounds.count - kept - lost)", "\(lost)", "\(succeeded) of \(calls)",
                "\(rounds.map(\.longestCall).max()?.milliseconds ?? 0) ms",
            ],
            columns
        )
    }

    private static let columns = [
        ("killed", 19), ("grace", 5), ("rounds", 6), ("kept", 4), ("ended by the server", 19), ("lost", 4),
        ("calls succeeded", 15), ("longest call", 12),
    ]
}
