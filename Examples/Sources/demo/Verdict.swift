/// Whether the run was as it should be, and a sentence for everything that was not.
struct Verdict: Sendable {
    let complaints: [String]

    var isGood: Bool { complaints.isEmpty }

    /// - Parameter revocations: How many expiries there were after the first.
    init(_ results: [EnvironmentResult], revocations: Int) {
        let expected = revocations + 1
        complaints = results.flatMap { result in
            var complaints: [String] = []
            if let first = result.failures.first {
                complaints.append("\(result.failures.count) of \(result.calls) calls failed; the first: \(first)")
            }
            if result.server.refreshes != expected {
                complaints.append("\(result.server.refreshes) refreshes for \(expected) expiries")
            }
            if result.server.reuseDetected > 0 {
                complaints.append("\(result.server.reuseDetected) refresh tokens were used twice")
            }
            if result.duplicates > 0 {
                complaints.append("\(result.duplicates) notes were created twice")
            }
            if result.server.unknownTokens > 0 {
                complaints.append("\(result.server.unknownTokens) tokens of another environment arrived")
            }
            return complaints.map { "\(result.name): \($0)." }
        }
    }
}
