/// The figures side by side: a column per environment, and one for the total where there are several.
struct Table {
    private let results: [EnvironmentResult]
    private let style: TextStyle

    private static let labelWidth = 36
    private static let columnWidth = 12

    init(_ results: [EnvironmentResult], style: TextStyle) {
        self.results = results
        self.style = style
    }

    var text: String {
        let lines =
            [header("seen by the client"), rule] + clientRows + ["", header("seen by the server"), rule] + serverRows
        return lines.map { $0.isEmpty ? "" : "  " + $0 }.joined(separator: "\n")
    }

    private var clientRows: [String] {
        let causes = RetryCause.allCases.filter { cause in results.contains { $0.retriesByReason[cause] != nil } }
        return [
            row("calls", \.calls),
            row("succeeded", \.succeeded),
            row("attempts", \.attempts),
            row("retries", \.retries),
        ] + causes.map { cause in row("  " + cause.label) { $0.retriesByReason[cause] ?? 0 } } + [
            row("p50 of a call") { $0.percentile(0.5) },
            row("p99 of a call") { $0.percentile(0.99) },
        ]
    }

    private var serverRows: [String] {
        [
            style.bold(row("refreshes", \.server.refreshes)),
            row("refresh tokens used twice", \.server.reuseDetected),
            row("requests", \.server.requests),
            row("  rejected for their token", \.server.unauthorized),
            row("  answered 503") { $0.server.answers[503] ?? 0 },
            row("  answered 429") { $0.server.answers[429] ?? 0 },
            row("  dropped without an answer", \.server.dropped),
            row("notes created", \.server.notesCreated),
            row("notes created twice", \.duplicates),
        ]
    }

    private func header(_ title: String) -> String {
        style.dim(line(title, results.map(\.name) + (results.count > 1 ? ["total"] : [])))
    }

    private var rule: String {
        let columns = results.count > 1 ? results.count + 1 : 1
        return style.dim(String(repeating: "─", count: Self.labelWidth + columns * Self.columnWidth))
    }

    private func row(_ label: String, _ value: (EnvironmentResult) -> Int) -> String {
        let values = results.map(value)
        let total = results.count > 1 ? [values.reduce(0, +)] : []
        return line(label, (values + total).map(String.init))
    }

    private func row(_ label: String, _ value: (EnvironmentResult) -> Duration) -> String {
        line(label, results.map { value($0).shown })
    }

    private func line(_ label: String, _ cells: [String]) -> String {
        let label = label + String(repeating: " ", count: max(1, Self.labelWidth - label.count))
        return label
            + cells.map { String(repeating: " ", count: max(1, Self.columnWidth - $0.count)) + $0 }.joined()
    }
}
