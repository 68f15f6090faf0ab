/// A credential that is passed on and cannot be read.
///
/// The machine and all that the lock guards have no use for its content, and without its type they are not generic:
/// unspecialized generic code would make ``RefreshCoordinator/current`` ten times as slow.
protocol SealedCredential: AnyObject, Sendable {}

/// Holds a credential of any type behind one reference.
final class CredentialBox<Credential: Sendable>: SealedCredential {
    let credential: Credential

    init(_ credential: Credential) {
        self.credential = credential
    }
}

/// A sealed credential with its generation.
struct SealedGrant: Sendable {
    let credential: any SealedCredential
    let generation: Int
    /// The session that it belongs to.
    let session: SessionMark
}

extension SealedCredential {
    /// The credential inside; `type` must be the one that it was sealed as.
    func unsealed<Credential: Sendable>(as type: Credential.Type) -> Credential {
        // A coordinator seals credentials of one type only; a checked cast would look the type up for every attempt.
        unsafeDowncast(self, to: CredentialBox<Credential>.self).credential
    }
}
