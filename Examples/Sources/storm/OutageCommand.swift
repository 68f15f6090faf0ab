import ArgumentParser
import Foundation
import NautilusFleets

/// A server that has had an outage of ten seconds, and five policies that meet it.
struct OutageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outage",
        abstract: "Five policies of retrying against a server with an outage from 10 s to 20 s (the default)."
    )

    @Option(help: "How many clients there are, each with a service of its own.")
    var clients = 100

    @Option(help: "How many calls they make together in a second.")
    var rate = 800

    @Option(help: "How many requests the server can serve in a second.")
    var capacity = 1000

    @Option(help: "What the outage is: stalled, slowed (to half), unreachable or failing (503).")
    var outage: OutageChoice = .stalled

    @Option(help: "For how many seconds they make calls.")
    var seconds = 60

    @Option(help: "What everything random is drawn from.")
    var seed: UInt64 = 1

    @Flag(help: "Print one JSON object for each policy, a line each, instead of a table.")
    var json = false

    @Option(help: "Where the page with the picture is written.")
    var output = "storm.html"

    @Option(help: "Where the picture alone is written, as SVG.")
    var svg: String?

    @Option(help: "Where the figures of each second are written, as CSV.")
    var csv: String?

    func validate() throws {
        guard (1...10_000).contains(clients) else {
            throw ValidationError("--clients must be 1...10000; it is \(clients).")
        }
        guard (1...10_000).contains(rate) else { throw ValidationError("--rate must be 1...10000; it is \(rate).") }
        guard (1...10_000).contains(capacity) else {
            throw ValidationError("--capacity must be 1...10000; it is \(capacity).")
        }
        guard (30...3600).contains(seconds) else {
            throw ValidationError("--seconds must be 30...3600, since the outage ends at 20 s; it is \(seconds).")
        }
    }

    func run() async throws {
        guard #available(macOS 15, *) else { throw SystemTooOld() }
        let fleet = FleetSimulation(
            clients: clients,
            load: .poisson(callsPerSecond: Double(rate), for: .seconds(seconds)),
            server: .withOutage(outage.kind, capacity: capacity),
            seed: seed
        )
        let comparison = FleetComparison(try await PolicyRuns(fleet: fleet, isQuiet: json).reports())
        try write(comparison)
        if json {
            for report in comparison.reports { print(try PolicyLine(report).text) }
        } else {
            print("\n\(heading)\n\n\(comparison.table)\n\nThe picture is in \(output).")
        }
    }

    private func write(_ comparison: FleetComparison) throws {
        try Data(comparison.html(title: "What retries do to a server after an outage").utf8)
            .write(to: URL(fileURLWithPath: output))
        if let svg { try Data(comparison.svg.utf8).write(to: URL(fileURLWithPath: svg)) }
        if let csv { try Data(comparison.csv.utf8).write(to: URL(fileURLWithPath: csv)) }
    }

    private var heading: String {
        """
        \(clients) clients make \(rate) calls a second for \(seconds) s, and hang up after 1 s. The server can serve \
        \(capacity) a second,
        and is \(outage.rawValue) from 10 s to 20 s; its queue is two seconds long. Seed \(seed).
        """
    }
}

extension FleetServer {
    /// Ten workers, a queue that is two seconds long, and an outage of ten seconds.
    static func withOutage(_ kind: FleetOutage.Kind, capacity: Int) -> FleetServer {
        FleetServer(
            workers: 10,
            serviceTime: .constant(.seconds(10) / capacity),
            queueLimit: 2 * capacity,
            outages: [FleetOutage(kind, from: .seconds(10), for: .seconds(10))],
            // The failures that retries are good for: one request in a hundred fails, and would not fail again.
            failureRate: 0.01
        )
    }
}
