/// The reports of several policies side by side: as a table, as CSV, as a picture.
public struct FleetComparison: Hashable, Sendable {
    /// The reports, in the order in which they are shown.
    public let reports: [FleetReport]

    /// Creates a comparison, which makes sense for runs of the same ``FleetSimulation``.
    public init(_ reports: [FleetReport]) {
        self.reports = reports
    }

    /// Every second of every policy, a line each, for a spreadsheet (RFC 4180).
    public var csv: String {
        let rows = reports.flatMap { report in
            report.seconds.map { second in
                [Self.field(report.policy), "\(report.seed)"] + Self.columns.map { "\(second[keyPath: $0.path])" }
            }
        }
        let header = ["policy", "seed"] + Self.columns.map(\.name)
        return ([header] + rows).map { $0.joined(separator: ",") + "\r\n" }.joined()
    }

    private static var columns: [(name: String, path: KeyPath<FleetSecond, Int>)] {
        [
            ("second", \.number), ("begun", \.begun), ("sends", \.sends), ("succeeded", \.succeeded),
            ("failed", \.failed), ("refused", \.refused), ("abandoned", \.abandoned), ("kept", \.kept),
        ]
    }

    private static func field(_ text: String) -> String {
        guard text.contains(where: { ",\"\r\n".contains($0) || $0.isNewline }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}

extension FleetReport {
    /// Every second, a line each, for a spreadsheet (RFC 4180).
    public var csv: String { FleetComparison([self]).csv }
}
