import Foundation

/// What a ``CredentialStore`` keeps: a credential, the session it belongs to, and what is known of its refresh token.
public struct StoredCredential: Hashable, Sendable {
    /// The session: drawn at sign-in and kept by every refresh. It tells another process's refresh, which is adopted,
    /// from another user's sign-in, which is not.
    public let session: UUID
    /// The session's number: one more than that of the session whose place it has taken. Of two sign-ins of two processes
    /// it tells which one knew of the other; no clock does.
    public let number: Int
    /// The credential.
    public let credential: OAuthCredential
    /// How often the refresh token has been sent, or was about to be, without an answer that is known: 0 for one that
    /// was never sent. Written before sending, so that it outlives the process.
    public var unanswered: Int
    /// Whether the server has ended the session: nobody is signed in, other processes say why, and the credential is empty.
    public let hasExpired: Bool

    /// Creates a record.
    ///
    /// - Parameters:
    ///   - session: The session it belongs to.
    ///   - number: The session's number. Default: 1, the first; less counts as that.
    ///   - credential: The credential.
    ///   - unanswered: How often its refresh token was sent without a known answer. Default: 0, never.
    ///   - hasExpired: Whether the server has ended the session. Default: false.
    public init(
        session: UUID,
        number: Int = 1,
        credential: OAuthCredential,
        unanswered: Int = 0,
        hasExpired: Bool = false
    ) {
        self.session = session
        self.number = max(1, number)
        self.credential = credential
        self.unanswered = unanswered
        self.hasExpired = hasExpired
    }
}

extension StoredCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The session, what the credential says of itself, and the count; never a token.
    public var description: String {
        hasExpired
            ? "StoredCredential(session \(session), expired)"
            : "StoredCredential(session \(session), \(credential), unanswered \(unanswered))"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["stored": description]) }
}
