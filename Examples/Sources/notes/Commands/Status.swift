import ArgumentParser

/// Tells whether somebody is signed in.
struct Status: NotesCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who is signed in, and for how long.",
        discussion: "It looks at what is kept here, and asks no server."
    )

    @OptionGroup var options: ServiceOptions

    func execute() async throws {
        let account = options.account
        guard let credential = try await account.stored() else { throw account.notSignedIn }
        Output.line("\(CredentialText(credential, of: account))")
    }
}
