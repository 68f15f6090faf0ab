import Foundation
import Nautilus

/// A ``StoredCredential`` with its credential decoded, as a session works with it.
struct SessionRecord<Credential: Codable & Sendable & Equatable>: Equatable, Sendable {
    let session: UUID
    var number: Int
    /// How often the credential has been renewed.
    var renewals = 0
    let credential: Credential
    var unanswered = 0
    /// Whether the credential was already expired when its renewal brought it.
    var cameExpired = false
    /// The credential's stored bytes; nil for a credential that this process obtained itself. A newer version of the
    /// app may have stored fields that this one does not know, and they have to stay.
    var content: Data?

    /// The same session with a renewed credential.
    func replacing(_ fresh: Credential, cameExpired: Bool) -> SessionRecord {
        SessionRecord(
            session: session,
            number: number,
            renewals: renewals + 1,
            credential: fresh,
            cameExpired: cameExpired
        )
    }
}

extension SessionRecord {
    /// - Throws: ``CredentialStoreError/undecodable(type:)``.
    init(_ stored: StoredCredential) throws(CredentialStoreError) {
        self.init(
            session: stored.session,
            number: stored.number,
            renewals: stored.renewals,
            credential: try stored.credential(),
            unanswered: stored.unanswered,
            cameExpired: stored.cameExpired,
            content: stored.content
        )
    }

    /// The credential as other processes will read it; unchanged when it cannot be stored.
    ///
    /// The session uses this form in memory, too: otherwise a date that is stored in whole seconds would look like
    /// another process's renewal.
    static func asStored(_ credential: Credential) -> Credential {
        (try? StoredCredential(session: UUID.random(), credential: credential).credential()) ?? credential
    }

    /// The record to store.
    ///
    /// - Throws: The error of the credential's encoding.
    func stored() throws -> StoredCredential {
        if let content {
            return StoredCredential(
                session: session,
                number: number,
                renewals: renewals,
                content: content,
                unanswered: unanswered,
                cameExpired: cameExpired
            )
        }
        return try StoredCredential(
            session: session,
            number: number,
            renewals: renewals,
            credential: credential,
            unanswered: unanswered,
            cameExpired: cameExpired
        )
    }
}
