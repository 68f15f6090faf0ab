/// A picture of several policies, one below the other: the load that each sends, and its outcome, over time.
///
/// A single SVG without external resources, readable on light and dark pages.
struct FleetPlot: Sendable {
    private static let width = 880.0
    private static let label = 210.0
    private static let axis = 44.0
    private static let margin = 24.0
    private static let top = 44.0
    private static let panel = 96.0
    private static let gap = 22.0

    private let reports: [FleetReport]
    private let seconds: Int
    private let ceiling: Double

    init(_ reports: [FleetReport]) {
        self.reports = reports
        // After the load, only its aftermath follows.
        let loads = reports.map { $0.load.duration > .zero ? $0.load.duration : $0.end }
        self.seconds = max(1, Int(((loads.max() ?? .zero) / .seconds(1)).rounded(.up)))
        self.ceiling = Self.ceiling(over: reports.flatMap { report in report.seconds.map { Double($0.sends) } })
    }

    var svg: String {
        let height = bottom + 36
        let size = "width=\"\(Self.width.short)\" height=\"\(height.short)\""
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width.short) \(height.short)" \(size) \
            font-family="system-ui, -apple-system, sans-serif" font-size="12" role="img" \
            aria-label="Requests sent and calls that succeeded, per second, for each policy">
            \(Self.style)
            <rect class="page" width="\(Self.width.short)" height="\(height.short)" rx="8"/>
            \(legend)
            \(reports.enumerated().map { panel($0.element, top: top(of: $0.offset)) }.joined(separator: "\n"))
            \(timeAxis)
            </svg>

            """
    }

    // MARK: - Parts

    private static let style = """
        <style>
        .page{fill:#fcfcfb}.ink{fill:#1b1b1a}.dim{fill:#61605c}.grid{stroke:#e4e3df}.outage{fill:#e9e7e1}
        .sends{stroke:#d9541e;fill:none;stroke-width:2;stroke-linejoin:round}.good{fill:#2a78d6;fill-opacity:.75}
        .key{fill:#d9541e}.calls{stroke:#61605c;fill:none;stroke-dasharray:2 4}.title{fill:#1b1b1a;font-size:14px;font-weight:600}
        @media (prefers-color-scheme: dark){
        .page{fill:#1a1a19}.ink,.title{fill:#f1f0ec}.dim{fill:#a9a79f}.grid{stroke:#33322f}.outage{fill:#2f2e2b}
        .sends{stroke:#f0773f}.good{fill:#4a94ea}.key{fill:#f0773f}.calls{stroke:#a9a79f}}
        </style>
        """

    private var legend: String {
        """
        <g transform="translate(\(left.short) 20)">
        <rect class="good" y="-9" width="14" height="10"/><text class="ink" x="20">calls that succeeded</text>
        <rect class="key" x="166" y="-5" width="14" height="3"/><text class="ink" x="186">requests sent</text>
        <line class="calls" x1="292" x2="306" y1="-4" y2="-4"/><text class="ink" x="312">calls made</text>
        <rect class="outage" x="398" y="-9" width="14" height="10"/><text class="ink" x="418">outage</text>
        <text class="dim" x="\((plotWidth - 2).short)" text-anchor="end">per second</text>
        </g>
        """
    }

    private func panel(_ report: FleetReport, top: Double) -> String {
        let base = top + Self.panel
        let clip = "policy-\(Int(top))"
        return """
            \(caption(of: report, top: top))
            \(report.outages.map { band($0, top: top) }.joined(separator: "\n"))
            \([0, 0.5, 1].map { gridLine(at: $0, base: base) }.joined(separator: "\n"))
            <clipPath id="\(clip)"><rect x="\(left.short)" y="\(top.short)" width="\(plotWidth.short)" \
            height="\(Self.panel.short)"/></clipPath>
            <g clip-path="url(#\(clip))">
            <polygon class="good" points="\(area(report, base: base))"/>
            <polyline class="calls" points="\(points(report, base: base, \.begun))"/>
            <polyline class="sends" points="\(points(report, base: base, \.sends))"/>
            </g>
            """
    }

    private func caption(of report: FleetReport, top: Double) -> String {
        let recovery =
            report.recovery.map { "recovers in \($0.brief)" } ?? (report.hasRecovered ? "" : "never recovers")
        let lines = [
            (24.0, "dim", report.amplification.decimal(places: 2) + " sends per call"),
            (42, "dim", (report.completion * 100).decimal(places: 1) + " % of calls succeed"),
            (60, "ink", recovery),
        ]
        let title =
            "<text class=\"title\" x=\"\(Self.margin.short)\" y=\"\((top + 14).short)\">\(report.policy.escapedForXml)</text>"
        return title
            + lines.map { offset, style, text in
                "\n<text class=\"\(style)\" x=\"\(Self.margin.short)\" y=\"\((top + 10 + offset).short)\">\(text)</text>"
            }.joined()
    }

    private func band(_ outage: FleetOutage, top: Double) -> String {
        let (start, end) = (x(outage.start / .seconds(1)), x(outage.end / .seconds(1)))
        return """
            <rect class="outage" x="\(start.short)" y="\(top.short)" width="\((end - start).short)" \
            height="\(Self.panel.short)"/>
            """
    }

    private func gridLine(at share: Double, base: Double) -> String {
        let y = base - share * Self.panel
        return """
            <line class="grid" x1="\(left.short)" x2="\((left + plotWidth).short)" y1="\(y.short)" y2="\(y.short)"/>\
            <text class="dim" x="\((left - 8).short)" y="\((y + 4).short)" text-anchor="end">\
            \((share * ceiling).short)</text>
            """
    }

    private var timeAxis: String {
        let step = Self.roundStep(atLeast: Double(seconds) / 8)
        let ticks = stride(from: 0, through: Double(seconds), by: step).map { time in
            "<text class=\"dim\" x=\"\(x(time).short)\" y=\"\((bottom + 18).short)\" text-anchor=\"middle\">"
                + "\(time.short) s</text>"
        }
        return ticks.joined(separator: "\n")
    }

    // MARK: - Geometry

    private var left: Double { Self.label + Self.axis }
    private var plotWidth: Double { Self.width - Self.margin - left }
    private var bottom: Double { top(of: reports.count) - Self.gap }

    private func top(of index: Int) -> Double {
        Self.top + Double(index) * (Self.panel + Self.gap)
    }

    private func x(_ time: Double) -> Double {
        left + min(max(0, time / Double(seconds)), 1) * plotWidth
    }

    private func shown(_ report: FleetReport) -> ArraySlice<FleetSecond> {
        report.seconds.prefix(seconds)
    }

    private func area(_ report: FleetReport, base: Double) -> String {
        let (first, last) = (x(0.5), x(Double(shown(report).count) - 0.5))
        return "\(first.short),\(base.short) \(points(report, base: base, \.succeeded)) \(last.short),\(base.short)"
    }

    /// The points of a curve, in the middle of each second. A point above the picture is cut off a little above it.
    private func points(_ report: FleetReport, base: Double, _ value: KeyPath<FleetSecond, Int>) -> String {
        shown(report).map { second in
            let height = min(Double(second[keyPath: value]) / ceiling, 1.1) * Self.panel
            return "\(x(Double(second.number) + 0.5).short),\((base - height).short)"
        }.joined(separator: " ")
    }

    /// A round number above all values or, if the highest fiftieth would make the rest look small, above the others.
    private static func ceiling(over values: [Double]) -> Double {
        let sorted = values.sorted()
        guard let highest = sorted.last else { return 1 }
        let usual = sorted[min(sorted.count - 1, Int(0.98 * Double(sorted.count)))]
        let top = max(highest > 2 * usual ? usual : highest, 1)
        let step = roundStep(atLeast: top / 4)
        return (top / step).rounded(.up) * step
    }

    /// The smallest number of the form 1, 2 or 5 times a power of ten that is at least `value`.
    private static func roundStep(atLeast value: Double) -> Double {
        var power = 1.0
        while power * 10 <= value { power *= 10 }
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= value } ?? power * 10
    }
}

extension Double {
    /// The number with at most one decimal, which is exact enough for a picture.
    fileprivate var short: String {
        let text = decimal(places: 1)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension String {
    /// The text, escaped for use inside an element or an attribute.
    var escapedForXml: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
