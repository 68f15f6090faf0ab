import BenchmarkServer
import Foundation

/// Measures this transport beside `URLSession`, the client that it is built on, the library's own transport, Go's client
/// and a plain loop in C, against one server.
///
/// `swift run -c release --package-path Examples/AsyncHTTPClientTransport transport-benchmark [rounds]`
@main
struct TransportBenchmark {
    static func main() async throws {
        if CommandLine.arguments.contains(ServerChild.argument) { return try ServerChild.run() }
        let rounds = max(1, CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 15)
        for answer in ServerAnswer.allCases { try await measure(answer, rounds: rounds) }
    }

    private static func measure(_ answer: ServerAnswer, rounds: Int) async throws {
        let server = try ServerProcess(answer)
        defer { server.end() }
        for (width, connections) in [(1, 6), (64, 6), (64, 64)] {
            let subjects = try Subject.all(port: server.port, connections: connections)
            let title = "\(answer.title); \(width) at once on \(connections) connections"
            try await measure(subjects, title, rounds, width: width)
        }
    }

    private static func measure(_ subjects: [Subject], _ title: String, _ rounds: Int, width: Int) async throws {
        let calls = width == 1 ? 500 : 2_000
        for subject in subjects { _ = try await subject.sample(500, width) }
        var samples = [[Sample]](repeating: [], count: subjects.count)
        for round in 0..<rounds {
            // All in each round, since the machine changes; another one first each time, since the first warms it up.
            for turn in subjects.indices {
                let index = (turn + round) % subjects.count
                samples[index].append(try await subjects[index].sample(calls, width))
            }
        }
        print("\n\(title), \(rounds) rounds of \(calls) calls; medians, ratios within a round")
        for (index, subject) in subjects.enumerated() {
            print(Row(subject, samples[index], session: samples[0], client: samples[1]).text)
        }
    }
}
