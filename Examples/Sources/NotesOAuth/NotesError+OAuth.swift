import Nautilus
import NautilusOAuth
import NotesAPI

extension NotesError {
    /// A failed call, in the app's words, of a service whose session is an `OAuthSession`.
    public init(oauth error: HttpError) {
        switch error.kind == .authorization ? error.underlying : nil {
        case let cause as OAuthError: self.init(Self.reason(of: cause), error)
        case let cause as SessionError: self.init(Self.reason(of: cause), error)
        default: self.init(error)
        }
    }

    private static func reason(of cause: OAuthError) -> Reason {
        switch cause.kind {
        case .insufficientScope: .forbidden
        case .cancelled: .cancelled
        default: cause.isTransient ? .unavailable : .unexpected
        }
    }

    private static func reason(of cause: SessionError) -> Reason {
        switch cause.kind {
        case .superseded, .expired: .signedOut
        case .cancelled: .cancelled
        // A keychain is locked, a disk is full: it passes, and the user need not sign in again.
        case .store: .unavailable
        case .lockTimeout, .lockLost, .storeTimeout, .notRevoked: cause.isTransient ? .unavailable : .unexpected
        }
    }
}
