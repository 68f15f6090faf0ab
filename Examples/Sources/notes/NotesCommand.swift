import ArgumentParser

/// A command that fails with a ``Complaint``.
protocol NotesCommand: AsyncParsableCommand {
    /// Whether failed calls are shown in full.
    var isVerbose: Bool { get }

    func execute() async throws
}

extension NotesCommand {
    var isVerbose: Bool { false }

    mutating func run() async throws {
        do {
            try await execute()
        } catch let complaint as Complaint {
            if isVerbose { for trace in complaint.traces { Output.error("\(trace)") } }
            Output.error("notes: " + complaint.line)
            throw complaint.status.code
        }
    }
}
