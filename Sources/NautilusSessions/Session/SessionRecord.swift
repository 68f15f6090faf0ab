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
        (try? StoredCredential(session: UUID(), credential: credential).credential()) ?? credential
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

/// How a session shares its credential with other processes; each default comes with its reason.
public struct CredentialSharing: Sendable {
    /// The longest that a process waits for the store's lock.
    public let lockWait: Duration
    /// How often the same renewal sends a credential again after its answer was lost.
    public let lostAnswerRetries: Int
    /// The pauses before a credential is sent again, and before another try to save what could not be saved.
    public let backoff: Backoff

    /// Creates the rules; negative values count as zero.
    ///
    /// - Parameters:
    ///   - lockWait: Default: 30 s, longer than another process's request of 25 s, and than the 15 s of a request that
    ///     meets silence twice; a process that is killed frees the lock at once. Calls of a process that waits in vain
    ///     fail for now.
    ///   - lostAnswerRetries: Default: 1. A server that rotates its tokens may have spent the credential, but a server
    ///     with a grace period answers a second time (RFC 9700 §4.14.2), so it is sent again soon. If that answer is
    ///     lost as well, the renewal fails for now and the credential is kept, since only the server can tell whether
    ///     it is spent; the server is asked once more after each cool-down.
    ///   - backoff: Default: exponential from 1 s to 30 s with equal jitter. A renewal that is given up after 7 s of
    ///     silence, like OAuth's, is sent again after 8 s at most, within a server's usual grace period of ten seconds.
    ///     And a full disk causes no busy loop.
    public init(
        lockWait: Duration = .seconds(30),
        lostAnswerRetries: Int = 1,
        backoff: Backoff = .exponential(base: .seconds(1), cap: .seconds(30), jitter: .equal)
    ) {
        self.lockWait = max(.zero, lockWait)
        self.lostAnswerRetries = max(0, lostAnswerRetries)
        self.backoff = backoff
    }
}
