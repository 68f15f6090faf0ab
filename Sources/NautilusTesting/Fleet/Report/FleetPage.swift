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
    /// The picture: for each policy the requests it sends and the calls that succeed, over time. One SVG file, which
    /// needs nothing from outside and is readable on light and on dark pages.
    public var svg: String { FleetPlot(reports).svg }

    /// The picture and the table as one HTML file, which needs nothing from outside.
    public func html(title: String) -> String {
        FleetPage(title: title, comparison: self).html
    }
}
