import Foundation
import Nautilus

/// A ``StoredCredential`` with its credential decoded, as a session works with it.
struct SessionRecord<Credential: Codable & Sendable & Equatable>: Equatable, Sendable {
    let session: UUID
    var number: Int
    /// How often the credential has been refreshed.
    var refreshCount = 0
    var credential: Credential
    var unanswered = 0
    /// Whether the credential was already expired when its refresh brought it.
    var cameExpired = false
    /// The credential's stored bytes; nil for a credential that cannot be encoded. A newer version of the app may have
    /// stored fields that this one does not know, and they have to stay. And equal bytes are one credential, even if
    /// each decoding makes another of them, as with a property that is not stored and begins with the present time.
    var content: Data?

    /// The same session with a refreshed credential.
    func replacing(_ fresh: Encoded, cameExpired: Bool) -> SessionRecord {
        SessionRecord(
            session: session,
            number: number,
            refreshCount: refreshCount + 1,
            credential: fresh.credential,
            cameExpired: cameExpired,
            content: fresh.content
        )
    }

    /// This record with the credential of `known`, if the stored bytes of both are the same.
    func keepingCredential(of known: SessionRecord) -> SessionRecord {
        guard session == known.session, let content, content == known.content else { return self }
        var record = self
        record.credential = known.credential
        return record
    }

    /// Whether a stored record is this one.
    func isState(of stored: StoredCredential) -> Bool {
        (session, refreshCount, unanswered) == (stored.session, stored.refreshCount, stored.unanswered)
    }

    /// Whether the credential of a stored record is this one.
    func hasCredential(of stored: StoredCredential) -> Bool {
        content == stored.content || (try? stored.credential()) == credential
    }
}

extension SessionRecord {
    static func == (first: SessionRecord, second: SessionRecord) -> Bool {
        guard
            (first.session, first.number, first.refreshCount) == (second.session, second.number, second.refreshCount),
            (first.unanswered, first.cameExpired) == (second.unanswered, second.cameExpired),
            first.content == second.content
        else { return false }
        // A credential with a number that is none does not even equal itself.
        return first.content != nil || first.credential == second.credential
    }

    /// - Throws: ``CredentialStoreError/undecodable(type:)``.
    init(_ stored: StoredCredential) throws(CredentialStoreError) {
        self.init(
            session: stored.session,
            number: stored.number,
            refreshCount: stored.refreshCount,
            credential: try stored.credential(),
            unanswered: stored.unanswered,
            cameExpired: stored.cameExpired,
            content: stored.content
        )
    }

    /// A credential with its stored bytes.
    struct Encoded {
        let credential: Credential
        /// Nil when the credential cannot be stored.
        let content: Data?

        /// The credential as other processes will read it; unchanged when it cannot be stored.
        ///
        /// The session uses this form in memory, too: otherwise a date that is stored in whole seconds would look like
        /// another process's refresh.
        init(_ credential: Credential) {
            if let stored = try? StoredCredential(session: UUID.random(), credential: credential),
                let read: Credential = try? stored.credential()
            {
                (self.credential, content) = (read, stored.content)
            } else {
                (self.credential, content) = (credential, nil)
            }
        }
    }

    /// The record to store.
    ///
    /// - Throws: The error of the credential's encoding.
    func stored() throws -> StoredCredential {
        StoredCredential(
            session: session,
            number: number,
            refreshCount: refreshCount,
            content: try content ?? StoredCredential(session: session, credential: credential).content,
            unanswered: unanswered,
            cameExpired: cameExpired
        )
    }
}
