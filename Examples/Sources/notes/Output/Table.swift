/// A table of text whose columns end where their headings do.
enum Table {
    /// One line of it.
    ///
    /// - Parameters:
    ///   - cells: The texts of the line, from the left.
    ///   - columns: The heading and the width of each column.
    static func line(_ cells: [String], _ columns: [(String, Int)]) -> String {
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
