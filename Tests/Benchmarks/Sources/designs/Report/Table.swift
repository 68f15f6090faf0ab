/// Rows for people: names at the left of their column, figures at the right.
struct Table {
    private static let headings = [
        "", "succeeded", "failed", "no answer", "refreshes", "reused", "requests", "last call ends",
    ]

    private let cells: [[String]]

    init(_ rows: [Row]) {
        cells = [Self.headings] + rows.map(\.cells)
    }

    var lines: [String] {
        let widths = Self.headings.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            zip(row, widths).enumerated().map { column, cell in
                let blank = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + blank : blank + cell.0
            }.joined(separator: "  ")
        }
    }
}

extension Row {
    fileprivate var cells: [String] {
        let figures = [succeeded, failed, neverAnswered, refreshes, reusedRefreshTokens, apiRequests].map(String.init)
        return [design] + figures + [isCutOff ? "never" : Self.seconds(lastEndMilliseconds)]
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        let fraction = String(1000 + milliseconds % 1000).dropFirst()
        return "\(milliseconds / 1000).\(fraction) s"
    }
}
