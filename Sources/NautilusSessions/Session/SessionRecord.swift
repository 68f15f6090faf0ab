import Foundation

/// A ``StoredCredential`` with its credential decoded, as a session goes by it.
struct SessionRecord<Credential: Codable & Sendable & Equatable>: Equatable, Sendable {
    let session: UUID
    let number: Int
    let credential: Credential
    var unanswered = 0

    /// The same session with a renewed credential.
    func replacing(_ fresh: Credential) -> SessionRecord {
        SessionRecord(session: session, number: number, credential: fresh)
    }
}

extension SessionRecord {
    /// - Throws: ``CredentialStoreError/undecodable(type:)``.
    init(_ stored: StoredCredential) throws(CredentialStoreError) {
        self.init(
            session: stored.session,
            number: stored.number,
            credential: try stored.credential(),
            unanswered: stored.unanswered
        )
    }

    /// A credential as other processes will read it; itself when it cannot be stored.
    ///
    /// The session goes on with this one in memory, too: a date that is stored in whole seconds would otherwise look
    /// like another process's renewal.
    static func asStored(_ credential: Credential) -> Credential {
        (try? StoredCredential(session: UUID(), credential: credential).credential()) ?? credential
    }

    /// The record to store.
    ///
    /// - Throws: The error of the credential's encoding.
    func stored() throws -> StoredCredential {
        try StoredCredential(session: session, number: number, credential: credential, unanswered: unanswered)
    }
}
