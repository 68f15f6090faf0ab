import Foundation
import Nautilus
import NautilusOAuth
import NotesAPI
import NotesOAuth

/// The API as this user calls it: one server, one folder for the credential, one session.
struct NotesAccount: Sendable {
    /// Scheme, host and port.
    let server: String
    /// Where the credential is kept.
    let folder: URL
    let store: FileStore
    let service: OAuthNotesService
    /// The arguments that other commands also need, to reach the same server and folder.
    private let arguments: String

    init(server: String, folder: URL, arguments: String = "") {
        self.server = server
        self.folder = folder
        self.arguments = arguments
        store = FileStore(folder: folder)
        service = OAuthNotesService(
            NotesEnvironment(name: server, origin: server),
            client: OAuthClient(id: "notes-app"),
            store: store
        )
    }

    var session: OAuthSession { service.session }

    /// A command of this tool for the same server and folder, to be copied.
    func command(_ words: String) -> String { "\"notes \(words)\(arguments)\"" }

    /// The stored credential, read without a word to the server; nil when nobody is signed in.
    func stored() async throws(Complaint) -> OAuthCredential? {
        do throws(CredentialStoreError) {
            guard let stored = try await store.load(session.key), !stored.hasExpired else { return nil }
            return try stored.credential()
        } catch {
            throw complaint(error)
        }
    }
}
