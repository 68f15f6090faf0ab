import DemoServers

/// The counters of a server, one count a line.
struct CountersText: CustomStringConvertible {
    let description: String

    init(_ counters: ServerCounters) {
        let answers = counters.answers.sorted { $0.key < $1.key }.map { ("  answered \($0.key)", $0.value) }
        let rows =
            [
                ("device logins", counters.deviceAuthorizations),
                ("token requests", counters.tokenRequests.values.reduce(0, +)),
                ("  of which refreshes", counters.refreshes),
                ("refresh tokens used twice", counters.reuseDetected),
                ("  within the grace period", counters.graceReuses),
                ("tokens revoked", counters.tokensRevoked),
                ("notes requests", counters.requests),
            ] + answers
        let width = rows.map { $0.0.count }.max() ?? 0
        description = rows.map { label, count in
            label + String(repeating: " ", count: width - label.count) + "  \(count)"
        }.joined(separator: "\n")
    }
}
