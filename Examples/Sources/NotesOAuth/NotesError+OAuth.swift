import Nautilus
import NautilusOAuth
import NotesAPI

extension NotesError {
    /// A failed call, in the app's words, of a service whose session is an `OAuthSession`.
    public init(oauth error: HttpError) {
        guard error.kind == .authorization, let cause = error.underlying as? OAuthError else {
            self.init(error)
            return
        }
        let reason: Reason =
            switch cause.kind {
            case .insufficientScope: .forbidden
            case .superseded: .signedOut
            case .cancelled: .cancelled
            // A keychain is locked, a disk is full: it passes, and nobody needs to sign in again.
            case .store: .unavailable
            default: cause.isTransient ? .unavailable : .unexpected
            }
        self.init(reason, error)
    }
}
