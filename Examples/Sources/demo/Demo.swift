import ArgumentParser
import DemoServers

/// Starts two notes APIs that misbehave, calls them through Nautilus, and shows what it took.
@main
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Calls two local notes APIs that fail on purpose, and shows what it took to succeed.",
        discussion: """
            Every run begins with an expired token: all calls under way are rejected together, and one refresh serves \
            them all. Exit code 0 means that every call succeeded, with exactly one refresh per expiry, no refresh \
            token used twice and no note created twice.
            """
    )

    @Option(help: "Which environment to call: staging, production, both, or the first and then the second: switched.")
    var environment: EnvironmentChoice = .both

    @Option(help: "How many calls in all; two environments share them evenly.")
    var calls = 500

    @Option(help: "How many calls are under way at once, in each environment.")
    var concurrency = 64

    @Option(help: "The share of requests that the servers answer badly, 0...1.")
    var faults = 0.3

    @Option(help: "What calls and faults are drawn from; the same seed plans the same run.")
    var seed: UInt64 = 1

    @Option(help: "How many more times all tokens are withdrawn during the run, 0...4.")
    var revocations = 0

    @Flag(help: "Print one JSON object instead of tables.")
    var json = false

    func validate() throws {
        guard (0...4).contains(revocations) else {
            throw ValidationError(
                "--revocations must be 0...4, since a coordinator starts at most 5 refreshes in 30 s; "
                    + "it is \(revocations)."
            )
        }
        let environments = environment.names.count
        guard (environments * (revocations + 1)...100_000).contains(calls) else {
            throw ValidationError(
                "--calls must be \(environments * (revocations + 1))...100000, at least one for each environment "
                    + "and expiry; it is \(calls)."
            )
        }
        guard environment != .switched || (revocations == 0 && calls > 2 * concurrency) else {
            throw ValidationError(
                "--environment switched needs --revocations 0 and more --calls than twice --concurrency, so that both "
                    + "environments have calls; they are \(revocations), \(calls) and \(concurrency)."
            )
        }
        guard (1...1_000).contains(concurrency) else {
            throw ValidationError("--concurrency must be 1...1000; it is \(concurrency).")
        }
        guard (0...1).contains(faults) else {
            throw ValidationError("--faults must be 0...1, 0.3 for three requests in ten; it is \(faults).")
        }
    }

    func run() async throws {
        let terminal = Terminal()
        let progress = json ? nil : ProgressLine(total: calls, terminal: terminal)
        await progress?.begin()
        let clock = ContinuousClock()
        let start = clock.now
        let results = try await results(progress)
        await progress?.clear()
        let report = Report(results: results, revocations: revocations, duration: start.duration(to: clock.now))
        print(json ? try JsonReport(report).text : report.text(style: terminal.style, heading: heading))
        guard report.verdict.isGood else { throw ExitCode.failure }
    }

    private func results(_ progress: ProgressLine?) async throws -> [EnvironmentResult] {
        let runs = runs
        if environment == .switched {
            return try await SwitchedRun(first: runs[0], second: runs[1]).results(progress: progress)
        }
        return try await withThrowingTaskGroup(of: EnvironmentResult.self) { group in
            for run in runs { group.addTask { try await run.result(progress: progress) } }
            var results: [EnvironmentResult] = []
            for try await result in group { results.append(result) }
            return results.sorted { $0.order < $1.order }
        }
    }

    private var heading: String {
        "\(calls) calls, \(concurrency) at once in each environment, faults \(faults), seed \(seed)"
    }

    private var runs: [EnvironmentRun] {
        let names = environment.names
        return names.enumerated().map { index, name in
            EnvironmentRun(
                name: name,
                order: index,
                plan: CallPlan(
                    // All of them go through one switch, or each environment has its share.
                    calls: environment == .switched ? calls : (calls + names.count - 1 - index) / names.count,
                    waves: revocations + 1,
                    seed: seed &+ UInt64(index)
                ),
                faults: FaultPlan(seed: seed &+ UInt64(index), rate: faults),
                seed: seed &+ UInt64(index),
                concurrency: concurrency
            )
        }
    }
}
