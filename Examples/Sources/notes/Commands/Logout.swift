import ArgumentParser
import NautilusOAuth

/// Signs out, here and at the server.
struct Logout: NotesCommand {
    static let configuration = CommandConfiguration(abstract: "Sign out, and have the server forget the tokens.")

    @OptionGroup var options: ServiceOptions

    var isVerbose: Bool { options.isVerbose }

    func execute() async throws {
        let account = options.account
        do throws(SessionError) {
            guard try await account.session.restore() else {
                return Output.line("Nobody was signed in to \(account.server).")
            }
            try await account.session.signOut()
        } catch {
            throw complaint(error, account)
        }
        Output.line("Signed out of \(account.server), which has forgotten the tokens.")
    }

    /// The folder comes first: what fails at the server has succeeded here.
    private func complaint(_ error: SessionError, _ account: NotesAccount) -> Complaint {
        var complaint = account.complaint(error)
        if case .store = error.kind { return complaint }
        complaint.line = "signed out here, but the server may still accept the tokens: " + complaint.line
        return complaint
    }
}
