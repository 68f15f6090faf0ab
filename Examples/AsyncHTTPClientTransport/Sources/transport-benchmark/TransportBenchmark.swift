import BenchmarkServer
import Foundation

/// Measures this transport beside `URLSession` and beside the client that it is built on, against one server.
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
        let subjects = try Subject.all(port: server.port)
        for subject in subjects { try await subject.run(calls: 500, atOnce: 64) }
        var samples = [[Sample]](repeating: [], count: subjects.count)
        for round in 0..<rounds {
            // All in each round, since the machine changes; another one first each time, since the first warms it up.
            for turn in subjects.indices {
                let index = (turn + round) % subjects.count
                samples[index].append(try await Sample(of: subjects[index], calls: 2_000, atOnce: 64))
            }
        }
        print("\n\(answer.title); 64 at once, \(rounds) rounds of 2000 calls; medians, ratios within a round")
        for (index, subject) in subjects.enumerated() {
            print(Row(subject, samples[index], session: samples[0], client: samples[1]).text)
        }
    }
}
