import ArgumentParser
import Foundation
import NautilusFleets

/// The experiment of "Exponential Backoff And Backoff.Jitter" (AWS Architecture Blog, 2015), through Nautilus.
struct ContentionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contention",
        abstract: "Clients that all change one row at once: how many writes it takes until each has succeeded.",
        discussion: """
            Each client reads the row's version, writes with it, and begins again when another was faster. Hops take \
            |N(10, 2)| ms, delays 10 ms, doubling up to 2 s, or what their jitter makes of it.
            """
    )

    @Option(help: "How many clients there are, separated by commas.")
    var clients = "10,40,70,100,130,160,190"

    @Option(help: "How many runs each figure is the mean of.")
    var trials = 10

    @Option(help: "What everything random is drawn from.")
    var seed: UInt64 = 1

    @Flag(help: "Print one JSON object for each figure, a line each, instead of a table.")
    var json = false

    func validate() throws {
        guard !sizes.isEmpty, sizes.allSatisfy((1...1000).contains) else {
            throw ValidationError("--clients must be numbers from 1 to 1000, separated by commas; it is \(clients).")
        }
        guard (1...1000).contains(trials) else {
            throw ValidationError("--trials must be 1...1000; it is \(trials).")
        }
    }

    func run() async throws {
        guard #available(macOS 15, *) else { throw SystemTooOld() }
        let experiment = ContentionExperiment(trials: trials, seed: seed)
        let results = try await experiment.results(sizes: sizes)
        print(json ? try lines(results) : table(results))
    }

    private var sizes: [Int] {
        clients.split(separator: ",").map { Int($0.trimmingCharacters(in: .whitespaces)) ?? 0 }
    }

    private func lines(_ results: [ContentionResult]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try results.map { String(decoding: try encoder.encode($0), as: UTF8.self) }.joined(separator: "\n")
    }

    private func table(_ results: [ContentionResult]) -> String {
        let schedules = ContentionSchedule.allCases
        let header = ["clients"] + schedules.map(\.rawValue)
        let rows = sizes.map { size in
            ["\(size)"]
                + schedules.map { schedule in
                    let result = results.first { $0.clients == size && $0.schedule == schedule.rawValue }
                    return result.map { "\(Int($0.writes.rounded()))" } ?? "–"
                }
        }
        let published = ["published, 100"] + schedules.map { "\($0.publishedWrites)" }
        return ([header] + rows + [published]).map { cells in
            zip(cells, [14, 8, 13, 8, 8, 14]).map { cell, width in
                String(repeating: " ", count: max(0, width - cell.count)) + cell
            }.joined()
        }.joined(separator: "\n")
    }
}
