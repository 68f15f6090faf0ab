import Nautilus

/// What happened to an ``OAuthSession``, for the user interface: never a credential.
public enum SessionEvent: Sendable {
    /// Somebody has signed in, here or in another process, or was found to be signed in at the start.
    case signedIn
    /// There is a fresh credential: refreshed here, or by another process.
    case refreshed
    /// A refresh failed for now; the credential is kept, and a later call refreshes again.
    case refreshFailed(RefreshError)
    /// The session is over: ask the user to sign in. Comes once.
    case sessionExpired(RefreshError)
    /// The user has signed out, here or in another process.
    case signedOut
    /// The store does not take, or does not give, what it should. The session goes on with what is in memory, and what
    /// is not saved is tried again. Comes once until it works again.
    case storeFailed(OAuthError)
    /// The store works again, and everything is saved.
    case storeRecovered

    init(_ event: RefreshEvent) {
        self =
            switch event {
            case .signedIn: .signedIn
            case .refreshed: .refreshed
            case .refreshFailed(_, let error): .refreshFailed(error)
            case .sessionExpired(_, let error): .sessionExpired(error)
            case .signedOut: .signedOut
            }
    }
}
