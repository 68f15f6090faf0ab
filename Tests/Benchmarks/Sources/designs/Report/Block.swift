/// The rows of one scenario, ours last.
struct Block: Sendable {
    let scenario: Scenario
    let rows: [Row]

    private var ours: Row? { rows.last }
    private var others: some Sequence<Row> { rows.dropLast() }

    /// Nil unless it is told that ours failed where it must not.
    var complaint: String? {
        guard scenario.mustBeFlawless, ours?.isFlawless != true else { return nil }
        return "Nautilus does not come to one refresh, no failure and no reuse in: \(scenario.name)"
    }

    /// Aligned columns, and the other designs that do as well.
    var text: String {
        ([scenario.title + "."] + Table(rows).lines + remarks).joined(separator: "\n")
    }

    private var remarks: [String] {
        guard let ours else { return [] }
        return [
            remark("As good as Nautilus here:") { $0.isAsGood(as: ours) },
            remark("As many calls succeed as with Nautilus:") { row in
                ours.succeeded > 0 && row.succeeded == ours.succeeded && !row.isAsGood(as: ours)
            },
            remark("More calls succeed than with Nautilus:") { $0.succeeded > ours.succeeded },
            remark("Fewer refreshes than with Nautilus:") { $0.refreshes < ours.refreshes },
            remark("Cut off, it would have gone on:") { $0.isCutOff },
        ].compactMap { $0 }
    }

    private func remark(_ text: String, _ isMeant: (Row) -> Bool) -> String? {
        let names = others.filter(isMeant).map(\.design)
        return names.isEmpty ? nil : "\(text) \(names.joined(separator: ", "))."
    }
}
