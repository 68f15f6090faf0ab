/// A credential that a call's requests carry: a retrier names it when the call is bound (``Retrier/credentials``), and
/// the call asks it for each request to the service's own origin.
///
/// ``CallAuthorizer`` is one, for a credential that calls share. Write your own for a credential that nothing else
/// refreshes, such as a key that an agent hands out.
public protocol CallCredential: Sendable {
    /// The session that was current when the call was bound. The call ends with it, and what continues the call has to
    /// be of the same one. Default: one that never ends, the same for all credentials.
    var session: CallSession { get }
    /// Whether the credential can surely be used now, so that a request need not wait before it takes its place in the
    /// lines of the service. Default: true.
    var isReady: Bool { get }
    /// Waits until there is a credential that can be used. The call cancels the wait when the session is over.
    ///
    /// - Throws: Any error; nothing is sent then, and it becomes the attempt's failure.
    func ready() async throws
    /// Puts the newest credential of the session on a request that goes out now, and tags it
    /// (``HttpRequest/authorize(as:_:)``). Called from any task.
    ///
    /// - Returns: False when there is none that can be used yet: the call waits for ``ready()`` and asks again.
    /// - Throws: Any error; nothing is sent then, and it becomes the attempt's failure.
    func authorize(_ request: inout HttpRequest) throws -> Bool
}

extension CallCredential {
    /// Returns true.
    public var isReady: Bool { true }
    /// A session that never ends.
    public var session: CallSession { .unending }
}

/// The error of a credential that could not be used again and again although it had said that it was ready, such as one
/// that lives for less time than a request waits in the queues of the service.
struct CredentialNotReady: RefreshFailure, CustomStringConvertible {
    /// Those that could not be used.
    let missing: [any CallCredential]

    var isTransient: Bool { true }
    var retryAfter: Duration? { nil }

    var description: String { "no credential was valid for as long as the request waited; use a longer-lived one" }
}

/// The tag of a credential on a request: its session, and its version.
public struct CredentialTag: Hashable, Sendable {
    /// The session.
    public let session: CallSession
    /// The version of the credential, larger for each that replaces another. A credential of your own that has no
    /// versions uses 0.
    public let generation: Int

    /// Creates a tag.
    public init(session: CallSession, generation: Int) {
        (self.session, self.generation) = (session, generation)
    }

    /// Compares the session by identity.
    public static func == (left: CredentialTag, right: CredentialTag) -> Bool {
        left.session === right.session && left.generation == right.generation
    }

    /// Hashes the generation.
    public func hash(into hasher: inout Hasher) { hasher.combine(generation) }
}

extension CredentialTag: RequestTag {
    package var refusal: (any Error)? { session.end }
}

extension HttpRequest {
    /// Puts a credential on the request, and tags it: whoever writes it asks whether the session still goes on, the
    /// fields are not printed, and caches take an answer for one to this user alone.
    ///
    /// - Parameters:
    ///   - tag: Whose credential it is, and which version.
    ///   - write: Puts it on the request.
    /// - Throws: The error of `write`; the request is tagged even so.
    public mutating func authorize(
        as tag: CredentialTag,
        _ write: (inout HttpRequest) throws -> Void
    ) rethrows {
        let before = header
        defer { self.tag(tag, writtenSince: before) }
        try write(&self)
    }
}

extension [any RequestTag] {
    package func credentialTag(of session: CallSession) -> CredentialTag? {
        for case let tag as CredentialTag in self where tag.session === session { return tag }
        return nil
    }
}
