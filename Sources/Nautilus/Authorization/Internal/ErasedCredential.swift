/// A credential that is passed on without being read.
///
/// The machine and everything else that the lock guards never read the content. Without its type they need not be
/// generic: unspecialized generic code would make ``RefreshCoordinator/current`` ten times as slow.
protocol ErasedCredential: AnyObject, Sendable {}

/// Holds a credential of any type behind one reference.
final class CredentialBox<Credential: Sendable>: ErasedCredential {
    let credential: Credential

    init(_ credential: Credential) {
        self.credential = credential
    }
}

/// A credential of whichever type with its lifetime, which counts from now; nil when it has no end.
struct ReceivedCredential: Sendable {
    let credential: any ErasedCredential
    let lifetime: Duration?
}

/// A credential of whichever type with its generation and its session.
struct ErasedVersionedCredential: Sendable {
    let credential: any ErasedCredential
    let generation: Int
    /// The session that the credential belongs to.
    let session: CallSession
}

extension ErasedCredential {
    /// The credential inside; `type` must be the type it had when its type was erased.
    func restored<Credential: Sendable>(as type: Credential.Type) -> Credential {
        guard let box = self as? CredentialBox<Credential> else {
            // A coordinator makes boxes of its own type only, and reads no other coordinator's.
            preconditionFailure("a credential of another type")
        }
        return box.credential
    }
}
