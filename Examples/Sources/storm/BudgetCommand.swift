import ArgumentParser

/// What a client's bucket of tokens saves on a good day, and what it costs in an outage.
struct BudgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "budgets",
        abstract: "Several buckets of tokens: what each loses on a good day, and what it adds to an outage.",
        discussion: """
            Lost are the calls that the budget alone has ended: of 200 at a server that fails one request in five, GETs, \
            POSTs with a key and POSTs without one in turn, as many at once as the column says; at last 200 GETs. Sends \
            per call are those of the outage of `storm`, where 100 clients make 8 calls a second, or 1000 make 0.8.
            """
    )

    @Option(help: "How many runs each share of lost calls is the mean of.")
    var trials = 20

    @Option(help: "What everything random is drawn from.")
    var seed: UInt64 = 1

    func validate() throws {
        guard (1...1000).contains(trials) else {
            throw ValidationError("--trials must be 1...1000; it is \(trials).")
        }
    }

    func run() async throws {
        guard #available(macOS 15, *) else { throw SystemTooOld() }
        let experiment = BudgetExperiment(trials: trials, seed: seed)
        print("| tokens, and for a success | 1 at once | 8 | 64 | 200 | 200 GETs | 100 clients | 1000 clients |")
        print("|---|---|---|---|---|---|---|---|")
        for bucket in Self.buckets { print(try await experiment.row(bucket)) }
    }

    /// gRPC's, the default, and larger ones.
    private static let buckets = [
        Bucket(capacity: 10, deposit: 0.1), Bucket(capacity: 10, deposit: 0.2), Bucket(capacity: 20, deposit: 0.2),
        Bucket(capacity: 40, deposit: 0.1),
    ]
}

/// The size of a bucket of tokens, and what a success adds to it.
struct Bucket: Sendable {
    let capacity: Int
    let deposit: Double
}
