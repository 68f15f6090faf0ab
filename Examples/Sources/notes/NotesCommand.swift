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
            complaint.tell(isVerbose: isVerbose)
            throw complaint.status.code
        }
    }
}
