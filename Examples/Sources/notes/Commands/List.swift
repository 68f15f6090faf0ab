import ArgumentParser
import Foundation
import NotesAPI

/// Prints one page of notes.
struct List: NotesCommand {
    static let configuration = CommandConfiguration(abstract: "List notes.")

    @Option(help: "Which page, from 1.")
    var page = 1

    @Flag(help: .hidden)
    var waitForSignal = false

    @OptionGroup var options: ServiceOptions

    var isVerbose: Bool { options.isVerbose }

    func validate() throws {
        guard page >= 1 else { throw ValidationError("--page counts from 1; it is \(page).") }
    }

    func execute() async throws {
        if waitForSignal { StartSignal.wait() }
        try await options.account.call(ListNotes(page: page), isVerbose: isVerbose) { page in
            for note in page.notes { Output.line("\(note.id)\t\(note.title)") }
            let place = "page \(page.page) of \(page.pageCount)"
            Output.line(page.notes.isEmpty ? "There is no \(place)." : place)
        }
    }
}
