import ArgumentParser
import Foundation

/// Which server is called, and where its credential is kept.
struct ServiceOptions: ParsableArguments {
    @Option(name: .customLong("server"), help: "Where the notes are. (default: NOTES_SERVER, or \(ServerUrl.standard))")
    var givenServer: ServerUrl?

    @Option(
        name: .customLong("store"),
        help: "The folder of the credential. (default: NOTES_STORE, or this user's state directory)"
    )
    var givenFolder: String?

    @Flag(name: .customLong("verbose"), help: "Show the timeline of the call.")
    var isVerbose = false

    func validate() throws {
        guard givenServer == nil, let text = variable("NOTES_SERVER"), ServerUrl(argument: text) == nil else { return }
        throw ValidationError("NOTES_SERVER has to be a URL like \(ServerUrl.standard); it is '\(text)'.")
    }

    /// The API as this user calls it.
    var account: NotesAccount {
        let server = givenServer ?? variable("NOTES_SERVER").flatMap(ServerUrl.init)
        let folder = (givenFolder ?? variable("NOTES_STORE")).map { URL(fileURLWithPath: $0) }
        return NotesAccount(
            server: server?.description ?? ServerUrl.standard,
            folder: folder ?? StoreFolder.standard(),
            arguments: arguments
        )
    }

    /// The arguments that other commands also need, to reach the same server and folder.
    private var arguments: String {
        var arguments = ""
        if let givenServer { arguments += " --server \(givenServer)" }
        if let givenFolder { arguments += " --store \(ShellWord(givenFolder))" }
        return arguments
    }

    private func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
