import ArgumentParser

/// Runs fleets of clients against a modelled server, and shows what their retries do to it.
@main
struct Storm: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storm",
        abstract: "Simulates many clients and one server, and shows what retries do to it.",
        discussion: """
            Every call takes the whole path of a call through Nautilus; only the server, the network and time are \
            modelled. The same seed gives the same output, byte for byte.
            """,
        subcommands: [OutageCommand.self, BudgetCommand.self, ContentionCommand.self],
        defaultSubcommand: OutageCommand.self
    )
}

/// The simulation needs task executors.
struct SystemTooOld: Error, CustomStringConvertible {
    let description = "The simulation needs macOS 15 or Linux."
}
