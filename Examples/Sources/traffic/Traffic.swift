import ArgumentParser

/// Sends the same calls over sockets to a server with a limit and to one with an outage, with and without what helps.
@main
struct Traffic: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "traffic",
        abstract: "Shows what pacing does for a server with a limit, and a circuit breaker for one that is down.",
        discussion: """
            The limit is nginx's limit_req: 20 requests a second, a burst of 19. The outage lasts two seconds. Exit code \
            0 means that with pacing every call succeeded and the server refused no request (with --cold: none but \
            those that were under way when the limit was first told), and that the breaker opened, and closed again.
            """
    )

    @Option(help: "How many calls meet the limit.")
    var calls = 100

    @Flag(help: "Make all of them at once; else the first is alone, and the others know the limit from its answer.")
    var cold = false

    @Flag(help: "Print one JSON object for each run, a line each, instead of a table.")
    var json = false

    func validate() throws {
        // More would wait for a minute, or find a hundred waiting already, and fail by Pacing's own limits.
        guard (1...100).contains(calls) else {
            throw ValidationError("--calls must be 1...100, since Pacing has 100 wait at most; it is \(calls).")
        }
    }

    func run() async throws {
        if !json { print(heading) }
        async let backoff = LimitRun(name: "backoff", calls: calls, isCold: cold, pacing: nil).result()
        async let pacing = LimitRun(name: "backoff, pacing", calls: calls, isCold: cold, pacing: .init()).result()
        async let unbroken = OutageRun(name: "backoff", breaker: nil).result()
        async let broken = OutageRun(name: "backoff, breaker", breaker: OutageRun.breaker).result()
        let report = Report(
            limit: try await [backoff, pacing],
            outage: try await [unbroken, broken],
            mayRefuse: LimitRun.refusalsBeforeTold(calls: calls, isCold: cold)
        )
        print(json ? try report.lines : report.text)
        guard report.complaints.isEmpty else { throw ExitCode.failure }
    }

    private var heading: String {
        """

        Two servers take 20 requests a second, 19 more at once. \(calls) calls come at once\(cold ? "" : ", after a first").
        Two servers are down for 2 s. \(OutageRun.calls) calls come one every \(OutageRun.pace.milliseconds) ms.
        """
    }
}

extension Duration {
    /// Milliseconds, without their fraction.
    var milliseconds: Int { Int(self / .milliseconds(1)) }
}
