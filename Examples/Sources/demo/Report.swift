import Foundation

/// The whole run, for people and for programs.
struct Report: Sendable {
    let results: [EnvironmentResult]
    let duration: Duration
    let verdict: Verdict

    init(results: [EnvironmentResult], revocations: Int, duration: Duration) {
        self.results = results
        self.duration = duration
        self.verdict = Verdict(results, revocations: revocations)
    }

    /// Tables, the trace of the most-retried call, and the verdict.
    func text(style: TextStyle, heading: String) -> String {
        var parts = [style.bold("Nautilus demo") + ": " + heading, Table(results, style: style).text]
        if let outcome = mostRetried {
            parts.append(style.bold("The call that took the most attempts") + "\n\(outcome.trace)")
        }
        parts.append(conclusion(style: style))
        return "\n" + parts.joined(separator: "\n\n")
    }

    private var mostRetried: CallOutcome? {
        results.flatMap(\.outcomes).max { $0.trace.attempts.count < $1.trace.attempts.count }
    }

    private func conclusion(style: TextStyle) -> String {
        guard verdict.isGood else {
            return verdict.complaints.map { style.bad("✗ ") + $0 }.joined(separator: "\n")
        }
        let calls = results.reduce(0) { $0 + $1.calls }
        return style.good("✓") + " All \(calls) calls succeeded in \(duration.shown): one refresh per expiry,\n"
            + "  no refresh token used twice, no note created twice."
    }
}

extension Duration {
    /// Milliseconds below a second, otherwise seconds with one decimal.
    var shown: String {
        let milliseconds = inMilliseconds
        guard milliseconds >= 1_000 else { return "\(Int(milliseconds.rounded())) ms" }
        let tenths = Int((milliseconds / 100).rounded())
        return "\(tenths / 10).\(tenths % 10) s"
    }

    var inMilliseconds: Double {
        Double(components.seconds) * 1e3 + Double(components.attoseconds) * 1e-15
    }
}
