import Foundation

/// A subject's line in the report.
struct Row {
    let text: String

    init(_ subject: Subject, _ samples: [Sample], session: [Sample], client: [Sample]) {
        func ratio(_ others: [Sample], _ value: (Sample) -> Double) -> String {
            String(format: "%5.2f", zip(samples, others).map { value($0) / value($1) }.median)
        }
        text = [
            subject.name.padding(toLength: 36, withPad: " ", startingAt: 0),
            String(format: "%8.0f/s", samples.map(\.throughput).median),
            "\(ratio(session, \.throughput)) × URLSession's,",
            String(format: "CPU %6.1f µs", samples.map(\.cpu).median),
            "\(ratio(session, \.cpu)) × URLSession's,",
            "\(ratio(client, \.cpu)) × the client's",
        ].joined(separator: "  ")
    }
}

extension [Double] {
    /// The value in the middle; 0 for no values.
    fileprivate var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}
