import ArgumentParser
import NautilusOAuth

/// Signs in by device code.
struct Login: NotesCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign in by a code that is entered in a browser, here or on a phone.",
        discussion: "Whoever is signed in already is signed out."
    )

    @Option(help: "What to ask for, such as 'notes.read'. (default: all that the server gives)")
    var scope: String?

    @Flag(help: "Open the page and enter the code right here: for demos, whose page asks no questions.")
    var approve = false

    @OptionGroup var options: ServiceOptions

    var isVerbose: Bool { options.isVerbose }

    func execute() async throws {
        let account = options.account
        let before = try await before(account)
        let credential: OAuthCredential
        do {
            credential = try await account.service.signIn(scope: scope.map(OAuthScope.init(parsing:))) {
                authorization in
                Output.line(Self.text(authorization))
                if approve { await DevicePage.approve(authorization) }
            }
        } catch let error as OAuthError {
            throw account.complaint(error)
        } catch let error as SessionError {
            throw account.complaint(error)
        }
        // Best effort: nothing here has these tokens any more.
        if let before { try? await account.service.endpoint.revoke(before) }
        Output.line("\(CredentialText(credential, of: account))")
    }

    /// The credential of the last sign-in. A folder that cannot be used is found out before the user goes to another device.
    private func before(_ account: NotesAccount) async throws(Complaint) -> OAuthCredential? {
        do throws(CredentialStoreError) {
            let stored = try await account.store.load(account.session.key)
            guard let stored, !stored.hasExpired else { return nil }
            return try stored.credential()
        } catch .damaged {
            // It is replaced.
            return nil
        } catch {
            throw account.complaint(error)
        }
    }

    private static func text(_ authorization: DeviceAuthorization) -> String {
        var text = """
            Open this page, here or on a phone, and enter the code \(authorization.userCode):
              \(authorization.verificationUri.absoluteString)

            """
        if let complete = authorization.verificationUriComplete {
            text += "With the code filled in:\n  \(complete.absoluteString)\n"
        }
        return text + "Waiting; the code is good for \(authorization.expiresIn.rough)."
    }
}
