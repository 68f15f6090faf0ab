import Foundation

/// All runs, for people and for programs.
struct Report: Sendable {
    let limit: [RunResult]
    let outage: [RunResult]
    /// How many requests the limit may refuse with pacing: those sent before it was told.
    let mayRefuse: Int

    /// One JSON object a line, keys in a fixed order.
    var lines: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return try (limit + outage).map { String(decoding: try encoder.encode($0), as: UTF8.self) }
                .joined(separator: "\n")
        }
    }

    var text: String {
        var parts = [table("a limit", limit), table("an outage", outage)]
        let changes = outage.flatMap(\.changes)
        parts.append("  what the breaker did\n  " + rule + "\n" + changes.map { "  \($0.text)\n" }.joined())
        parts.append(conclusion)
        return "\n" + parts.joined(separator: "\n")
    }

    /// The findings that are not as they should be, a sentence each.
    var complaints: [String] {
        var complaints: [String] = []
        if let paced = limit.last {
            if paced.succeeded < paced.calls {
                complaints.append("With pacing, \(paced.calls - paced.succeeded) of \(paced.calls) calls failed.")
            }
            if paced.refused > mayRefuse {
                complaints.append("With pacing, the server refused \(paced.refused) requests, not up to \(mayRefuse).")
            }
        }
        if let broken = outage.last {
            if broken.openings == 0 { complaints.append("The breaker did not open.") }
            if !broken.isClosedAgain { complaints.append("The breaker did not close again.") }
        }
        return complaints
    }

    private var conclusion: String {
        guard complaints.isEmpty else { return complaints.map { "✗ \($0)" }.joined(separator: "\n") }
        let refused = limit.last?.refused ?? 0
        let toldTooLate = "those refused, \(refused), were under way before the limit was told"
        return "✓ With pacing every call succeeded, and \(refused == 0 ? "no request was refused" : toldTooLate).\n"
            + "  The breaker opened, and closed again."
    }

    private static let widths = [18, 8, 12, 20, 10, 9]

    private func table(_ scenario: String, _ results: [RunResult]) -> String {
        let header = [scenario, "calls", "succeeded", "seen by the server", "refused", "time"]
        let rows = results.map {
            [
                $0.name, "\($0.calls)", "\($0.succeeded)", "\($0.requests)", "\($0.refused)",
                $0.duration.inSeconds(places: 1) + " s",
            ]
        }
        return ([line(header), "  " + rule] + rows.map(line)).joined(separator: "\n") + "\n"
    }

    private var rule: String { String(repeating: "─", count: Self.widths.reduce(0, +)) }

    private func line(_ cells: [String]) -> String {
        let first = cells[0].padding(toLength: Self.widths[0], withPad: " ", startingAt: 0)
        return "  " + first
            + zip(cells, Self.widths).dropFirst().map { cell, width in
                String(repeating: " ", count: max(1, width - cell.count)) + cell
            }.joined()
    }
}
