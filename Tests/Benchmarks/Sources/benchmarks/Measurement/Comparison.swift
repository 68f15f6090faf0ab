/// A subject against its baseline, both measured in turns in the same run.
///
/// Figures of two runs cannot be compared: the machine, its load and its clock differ. So each round measures both,
/// one right after the other, the first one changing; the ratio is the median of the rounds' own ratios.
struct Comparison: Measurable {
    let group: String
    let name: String
    let metrics: [Metric]
    let subject: Subject
    let baseline: Subject

    /// Runs all rounds.
    func lines(_ effort: Effort) async throws -> [Line] {
        var lines: [Line] = []
        for metric in metrics {
            guard metric.isAvailable else {
                lines.append(Line(of: self, metric))
                continue
            }
            lines.append(try await line(for: metric, effort))
        }
        return lines
    }

    private func line(for metric: Metric, _ effort: Effort) async throws -> Line {
        // A block is long enough to drown the clock's resolution, short enough that both see the same machine.
        let counts = (subject: try await effort.count(for: subject), baseline: try await effort.count(for: baseline))
        var (values, references): ([Double], [Double]) = ([], [])
        for round in 0..<effort.rounds {
            if round.isMultiple(of: 2) {
                references.append(try await metric.measure(baseline, count: counts.baseline))
                values.append(try await metric.measure(subject, count: counts.subject))
            } else {
                values.append(try await metric.measure(subject, count: counts.subject))
                references.append(try await metric.measure(baseline, count: counts.baseline))
            }
        }
        return Line(of: self, metric, values, against: references)
    }
}

/// How much time the measuring may take.
struct Effort: Sendable {
    /// How often subject and baseline take turns.
    let rounds: Int
    /// How long one of them runs at a time.
    let block: Duration

    /// For figures that are printed somewhere: about a minute in all.
    static let full = Effort(rounds: 31, block: .milliseconds(20))
    /// For CI, to see that everything runs: a few seconds in all.
    static let quick = Effort(rounds: 5, block: .milliseconds(2))

    /// Whether the figures only show that everything runs.
    var isQuick: Bool { rounds < Self.full.rounds }

    /// How many calls fill a block; finding out warms everything up, too.
    func count(for subject: Subject) async throws -> Int {
        var count = 1
        while count < 1 << 24 {
            let start = ContinuousClock.now
            try await subject.run(count)
            let elapsed = ContinuousClock.now - start
            if elapsed >= block { break }
            count *= elapsed * 4 < block ? 4 : 2
        }
        return count
    }
}
