import ArgumentParser
import NotesAPI

/// Removes a note.
struct Delete: NotesCommand {
    static let configuration = CommandConfiguration(abstract: "Delete a note.")

    @Argument(help: "The note's number.")
    var number: Int

    @OptionGroup var options: ServiceOptions

    var isVerbose: Bool { options.isVerbose }

    func execute() async throws {
        try await options.account.call(DeleteNote(id: number), isVerbose: isVerbose) {
            Output.line("Note \(number) is gone.")
        }
    }
}
