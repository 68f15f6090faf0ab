import ArgumentParser
import NotesAPI

/// Prints one note.
struct Show: NotesCommand {
    static let configuration = CommandConfiguration(abstract: "Show a note.")

    @Argument(help: "The note's number.")
    var number: Int

    @OptionGroup var options: ServiceOptions

    var isVerbose: Bool { options.isVerbose }

    func execute() async throws {
        try await options.account.call(GetNote(id: number), isVerbose: isVerbose) { note in
            Output.line(note.title)
            if !note.text.isEmpty { Output.line("\n" + note.text) }
        }
    }
}
