import Foundation

/// The report for people: aligned columns, that also stand well in a README's code block.
struct Table {
    private static let headings = ["", "value", "ratio", "middle half", "baseline"]

    let lines: [Line]

    var text: String {
        let groups = lines.reduce(into: [String]()) { if $0.last != $1.group { $0.append($1.group) } }
        let rows = lines.map(\.cells)
        let widths = Self.headings.indices.map { column in
            ([Self.headings] + rows).map { $0[column].count }.max() ?? 0
        }
        return groups.map { group in
            let heading = [group] + Self.headings.dropFirst()
            let body = zip(lines, rows).filter { $0.0.group == group }.map { Self.aligned($0.1, widths) }
            return ([Self.aligned([""] + heading.dropFirst(), widths, title: group)] + body).joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    /// Numbers stand at the right of their column, words at the left.
    private static func aligned(_ cells: [String], _ widths: [Int], title: String? = nil) -> String {
        let first = title ?? "  " + cells[0]
        var text = first + String(repeating: " ", count: max(1, widths[0] + 4 - first.count))
        for column in 1..<4 {
            text += String(repeating: " ", count: max(0, widths[column] - cells[column].count)) + cells[column] + "  "
        }
        return text + cells[4]
    }
}

extension Line {
    fileprivate var cells: [String] {
        [
            name,
            value.map { Self.text($0, unit) } ?? "n/a",
            ratio.map { "\(Self.ratio($0)) ×" } ?? "–",
            ratioQuartiles.map { quartiles in
                quartiles.map(Self.ratio).joined(separator: "…")
            } ?? "",
            baselineValue.map { "\(baseline): \(Self.text($0, unit))" } ?? baseline,
        ]
    }

    /// Three figures and a unit of readable size.
    private static func text(_ value: Double, _ unit: String) -> String {
        let steps: [(limit: Double, name: String)] =
            switch unit {
            case "ns": [(1, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")]
            case "bytes": [(1, "B"), (1_024, "KiB"), (1_048_576, "MiB")]
            default: [(1, "")]
            }
        let step = steps.last { abs(value) >= $0.limit } ?? steps[0]
        let scaled = value / step.limit
        let digits = abs(scaled) < 10 && scaled != scaled.rounded() ? 2 : abs(scaled) < 100 ? 1 : 0
        let number = decimal(scaled, digits: unit == "ns" || unit == "bytes" ? digits : min(digits, 1))
        return step.name.isEmpty ? number : "\(number) \(step.name)"
    }

    private static func ratio(_ value: Double) -> String {
        decimal(value, digits: value < 10 ? 2 : value < 100 ? 1 : 0)
    }

    private static func decimal(_ value: Double, digits: Int) -> String {
        String(format: "%.\(digits)f", value)
    }
}
