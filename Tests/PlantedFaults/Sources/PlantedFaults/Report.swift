/// What the tests made of the faults, by file.
struct Report: CustomStringConvertible {
    private struct Row {
        var (planted, noticed, allowed) = (0, 0, 0)
        var missed: Int { planted - noticed - allowed }

        mutating func count(_ isNoticed: Bool, isAllowed: Bool) {
            planted += 1
            if isNoticed { noticed += 1 } else if isAllowed { allowed += 1 }
        }
    }

    private var rows: [String: Row] = [:]
    private var sum = Row()
    private var missed: [Fault] = []
    /// Faults that were noticed, though the list of survivors names them.
    private(set) var noticedSurvivors: [Fault] = []

    init(_ outcomes: [(Fault, Outcome)], _ survivors: Survivors) {
        for (fault, outcome) in outcomes {
            let (isNoticed, isAllowed) = (outcome.isNoticed, survivors.allow(fault))
            rows[fault.file, default: Row()].count(isNoticed, isAllowed: isAllowed)
            sum.count(isNoticed, isAllowed: isAllowed)
            if isNoticed, isAllowed { noticedSurvivors.append(fault) }
            if !isNoticed, !isAllowed { missed.append(fault) }
        }
    }

    /// The share of those that count which were noticed.
    var rate: Double { sum.planted == sum.allowed ? 1 : Double(sum.noticed) / Double(sum.planted - sum.allowed) }

    var description: String {
        let table = (rows.sorted { $0.key < $1.key } + [("all", sum)]).map { file, row in
            Self.line(file, ["\(row.planted)", "\(row.noticed)", "\(row.allowed)", "\(row.missed)"])
        }
        let head = ["", Self.line("file", ["planted", "noticed", "may survive", "not noticed"])]
        let names =
            noticedSurvivors.map { "noticed, though it may survive: \($0)" }
            + missed.map { "not noticed: \($0) (by \($0.suites.joined(separator: " ")))" }
        return (head + table + names + ["\((rate * 1000).rounded() / 10) % are noticed"]).joined(separator: "\n")
    }

    private static func line(_ name: String, _ columns: [String]) -> String {
        func blanks(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count))
        }
        return name + blanks(name, 38) + columns.map { blanks($0, 13) + $0 }.joined()
    }
}
