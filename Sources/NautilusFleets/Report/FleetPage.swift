import Nautilus

/// The comparison as one HTML file: the picture, the table, and what was simulated.
struct FleetPage: Sendable {
    let title: String
    let comparison: FleetComparison

    var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title.escapedForXml)</title>
        <style>
        body{margin:2rem auto;padding:0 1rem;max-width:880px;font:15px/1.5 system-ui,-apple-system,sans-serif;\
        background:#fff;color:#1b1b1a}
        h1{font-size:1.5rem;margin:0}p{color:#61605c;margin:.25rem 0 1.25rem}svg{max-width:100%;height:auto}
        .wide{overflow-x:auto}table{border-collapse:collapse;width:100%;margin-top:1.25rem;\
        font-variant-numeric:tabular-nums}
        th,td{padding:.4rem .6rem;text-align:right;border-bottom:1px solid #e4e3df;white-space:nowrap}
        th:first-child,td:first-child{text-align:left}th{font-weight:600;color:#61605c}
        @media (prefers-color-scheme: dark){body{background:#111110;color:#f1f0ec}p,th{color:#a9a79f}
        th,td{border-color:#33322f}}
        </style>
        </head>
        <body>
        <h1>\(title.escapedForXml)</h1>
        <p>\(setting.escapedForXml)</p>
        <div class="wide">
        \(comparison.svg)</div>
        <div class="wide">
        <table>
        \(row(FleetTable.header, "th"))
        \(FleetTable(comparison.reports).rows.map { row($0, "td") }.joined(separator: "\n"))
        </table>
        </div>
        </body>
        </html>

        """
    }

    private var setting: String {
        guard let report = comparison.reports.first else { return "No policy was run." }
        let load = report.load
        let calls =
            load.duration > .zero
            ? "\(load.callsPerSecond.decimal(places: 0)) calls a second for \(load.duration.brief)" : "one call each"
        let outages = report.outages.map { "an outage from \($0.start.brief) to \($0.end.brief)" }
        return (["\(report.clients) clients", calls] + outages + ["seed \(report.seed)"]).joined(separator: ", ") + "."
    }

    private func row(_ cells: [String], _ tag: String) -> String {
        "<tr>" + cells.map { "<\(tag)>\($0.escapedForXml)</\(tag)>" }.joined() + "</tr>"
    }
}

extension FleetComparison {
    /// The picture: for each policy, the requests that it sends and the calls that succeed, over time. A single SVG
    /// file, which needs no external resources and is readable on light and dark pages.
    public var svg: String { FleetPlot(reports).svg }

    /// The picture and the table as a single HTML file, which needs no external resources.
    public func html(title: String) -> String {
        FleetPage(title: title, comparison: self).html
    }
}

/// The figures of several policies, one row each.
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

    /// The table in columns of equal width, names to the left and figures to the right.
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
    /// The figures of each policy, one row each, for a terminal: sends per call, goodput, the share of calls completed,
    /// how long successful calls took, and the time to recover from the outage.
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
