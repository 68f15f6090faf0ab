import BenchmarkServer
import Foundation

/// Measures what Nautilus costs, against baselines of the same run.
@main
struct Benchmarks {
    static func main() async throws {
        if CommandLine.arguments.contains(ServerChild.argument) { return try ServerChild.run() }
        let options: Options
        do {
            options = try Options(CommandLine.arguments.dropFirst())
        } catch {
            FileHandle.standardError.write(Data("\(error)\n\(Options.usage)\n".utf8))
            exit(2)
        }
        guard !options.printsUsage else { return print(Options.usage) }
        let slow = try await report(options).filter(\.isSuperlinear).map(\.name)
        guard slow.isEmpty else {
            let text =
                "more than \(Growth.limit) times the time for each byte of 1 MiB: \(slow.joined(separator: ", "))\n"
            return FileHandle.standardError.write(Data(text.utf8))
        }
    }

    private static func report(_ options: Options) async throws -> [Line] {
        let servers = try ServerAnswer.allCases.map { (answer: $0, process: try ServerProcess($0)) }
        defer {
            servers.forEach { $0.process.end() }
            SessionSuite.cleanUp()
        }
        // Memory first, while the process is still small.
        let all =
            MemorySuite.all(servers[0].process) + ParserSuite.all + CallSuite.all + TrafficSuite.all + CrowdTime.all
            + CacheSuite.all
            + CoordinatorSuite.all + SessionSuite.all + BudgetSuite.all + WaitingSuite.all
            + servers.flatMap { LoopbackSuite.all($0.answer, port: $0.process.port) }
        var lines: [Line] = []
        for measurable in all.filter(options.wants) {
            FileHandle.standardError.write(Data("measuring: \(measurable.name)\n".utf8))
            lines += try await measurable.lines(options.effort)
        }
        print(options.printsJson ? try JsonReport(lines: lines).text : Table(lines: lines).text)
        return lines
    }
}
