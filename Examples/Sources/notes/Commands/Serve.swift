import ArgumentParser
import DemoServers

/// Starts a server to try the other commands with.
struct Serve: NotesCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start a notes server on this machine, to try the other commands with.",
        discussion: """
            It forgets everything when it stops: on Ctrl-C, on SIGTERM, or when the program that holds its standard \
            input ends. Then it prints what it has counted.
            """
    )

    @Option(help: "The port; 0 for one that is free.")
    var port: UInt16 = ServerUrl.standardPort

    @Option(help: "How long access tokens serve, in seconds.")
    var tokenLifetime = 3_600

    @Option(help: "How long a refresh token may be used again, in seconds; 0 for never, which ends the login.")
    var grace = 0

    @Option(help: "How often a device may ask whether its code has been entered, in seconds.")
    var pollInterval = 1

    func validate() throws {
        let options = [("token-lifetime", tokenLifetime, 1), ("grace", grace, 0), ("poll-interval", pollInterval, 1)]
        for (name, value, least) in options {
            guard (least...31_536_000).contains(value) else {
                throw ValidationError("--\(name) must be \(least)...31536000 seconds, a year; it is \(value).")
            }
        }
    }

    func execute() async throws {
        let stop = StopRequest()
        let server: DemoServer
        do {
            server = try await DemoServer.start(
                environment: "demo",
                port: port,
                // Tokens that an earlier server has issued mean nothing to this one.
                seed: .random(in: 0...UInt64.max),
                accessTokenLifetime: .seconds(tokenLifetime),
                gracePeriod: .seconds(grace),
                deviceRules: DemoDeviceRules(interval: .seconds(pollInterval))
            )
        } catch let failure as DemoServer.StartFailure {
            throw Complaint(
                .unavailable,
                "port \(port) cannot be used (\(failure.reason)); choose another --port, or 0"
            )
        }
        Output.line(greeting(server.origin))
        await stop.wait()
        let counters = await server.counters
        await server.stop()
        Output.line("\n\(CountersText(counters))")
    }

    private func greeting(_ origin: String) -> String {
        let options = origin == ServerUrl.standard ? "" : " --server \(origin)"
        return """
            Notes are served at \(origin) until Ctrl-C.
              sign in with          notes login\(options)
              enter device codes at \(origin)/device
            """
    }
}
