import ArgumentParser
import NotesAPI

/// Writes a note.
struct Add: NotesCommand {
    static let configuration = CommandConfiguration(abstract: "Add a note.")

    @Argument(help: "What the note is called.")
    var title: String

    @Option(help: "What the note says.")
    var text = ""

    @OptionGroup var options: ServiceOptions

    var isVerbose: Bool { options.isVerbose }

    func validate() throws {
        guard !title.isEmpty else { throw ValidationError("A note needs a title.") }
    }

    func execute() async throws {
        try await options.account.call(CreateNote(title: title, text: text), isVerbose: isVerbose) { note in
            Output.line("Added note \(note.id).")
        }
    }
}
