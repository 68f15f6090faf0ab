import Foundation

/// Measures this transport beside `URLSession` and beside the client that it is built on, against one server.
///
/// `swift run -c release --package-path Examples/AsyncHTTPClientTransport transport-benchmark [rounds]`
@main
struct TransportBenchmark {
    static func main() async throws {
        if CommandLine.arguments.contains(ServerChild.argument) { return try ServerChild.run() }
        let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 15
        let server = try ServerProcess()
        defer { server.end() }
        let subjects = try Subject.all(port: server.port)
        for subject in subjects { try await subject.run(calls: 500, atOnce: 64) }
        var samples = [[Sample]](repeating: [], count: subjects.count)
        for round in 0..<max(1, rounds) {
            // All in each round, since the machine changes; another one first each time, since the first warms it up.
            for turn in subjects.indices {
                let index = (turn + round) % subjects.count
                samples[index].append(try await Sample(of: subjects[index], calls: 2_000, atOnce: 64))
            }
        }
        print("64 at once, \(rounds) rounds of 2000 calls; medians, ratios within a round")
        for (index, subject) in subjects.enumerated() {
            print(Row(subject, samples[index], session: samples[0], client: samples[1]).text)
        }
    }
}

/// What one block of calls took.
struct Sample {
    /// Calls in a second.
    let throughput: Double
    /// Processor time of this process for one call, in microseconds.
    let cpu: Double

    init(of subject: Subject, calls: Int, atOnce width: Int) async throws {
        let (cpuStart, start) = (Self.cpuTime, ContinuousClock.now)
        try await subject.run(calls: calls, atOnce: width)
        let (cpuEnd, end) = (Self.cpuTime, ContinuousClock.now)
        throughput = Double(calls) / ((end - start) / .seconds(1))
        cpu = (cpuEnd - cpuStart) / .microseconds(1) / Double(calls)
    }

    private static var cpuTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

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
