import Nautilus

/// The figures of several policies, a row each.
struct FleetTable: Sendable {
    static let header = ["policy", "sends per call", "goodput", "completed", "p50", "p99", "recovery"]

    let rows: [[String]]

    init(_ reports: [FleetReport]) {
        rows = reports.map { report in
            [
                report.policy,
                report.amplification.decimal(places: 2),
                report.goodput.decimal(places: 0) + "/s",
                (report.completion * 100).decimal(places: 1) + " %",
                report.p50?.brief ?? "–",
                report.p99?.brief ?? "–",
                report.recovery?.brief ?? (report.hasRecovered ? "–" : "never"),
            ]
        }
    }

    /// Columns of equal width, names to the left and figures to the right.
    var text: String {
        let lines = [Self.header] + rows
        let widths = Self.header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            zip(line, widths).enumerated().map { column, cell in
                let blank = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + blank : blank + cell.0
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}

extension FleetComparison {
    /// The figures of each policy, a row each, for a terminal: sends per call, goodput, the share of calls completed, how
    /// long calls took that succeeded, and the time to recover from the outage.
    public var table: String { FleetTable(reports).text }
}

extension Double {
    /// The number with this many decimals, the same everywhere.
    func decimal(places: Int) -> String {
        guard isFinite else { return "–" }
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        let scaled = Int64(min((magnitude * scale).rounded(), 9e18))
        let sign = self < 0 && scaled > 0 ? "-" : ""
        guard places > 0 else { return "\(sign)\(scaled)" }
        let (whole, fraction) = scaled.quotientAndRemainder(dividingBy: Int64(scale))
        let digits = String(fraction)
        return "\(sign)\(whole)." + String(repeating: "0", count: places - digits.count) + digits
    }
}
