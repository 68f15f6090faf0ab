import Nautilus

/// An event of a ``Session``, for the user interface: generations, never a credential.
public enum SessionEvent: Sendable {
    /// Somebody has signed in, here or in another process, or was found to be signed in at the start; the credential is
    /// this generation.
    case signedIn(generation: Int)
    /// There is a fresh credential, renewed here or by another process; it is this generation.
    case refreshed(generation: Int)
    /// Renewing this generation failed for now; the credential is kept, and a later call renews it again.
    case refreshFailed(generation: Int, RefreshError)
    /// The session is over: ask the user to sign in. Comes once.
    case sessionExpired(generation: Int, RefreshError)
    /// The user has signed out, here or in another process; this generation was the last.
    case signedOut(generation: Int)
    /// The store fails to save or to load. The session goes on with what is in memory, and saving is tried again. Comes
    /// once until it works again.
    case storeFailed(SessionError)
    /// The store works again, and everything is saved.
    case storeRecovered

    init(_ event: RefreshEvent) {
        self =
            switch event {
            case .signedIn(let generation): .signedIn(generation: generation)
            case .refreshed(let generation): .refreshed(generation: generation)
            case .refreshFailed(let generation, let error): .refreshFailed(generation: generation, error)
            case .sessionExpired(let generation, let error): .sessionExpired(generation: generation, error)
            case .signedOut(let generation): .signedOut(generation: generation)
            }
    }

    /// Whether somebody is signed in after it; nil for an event that says nothing of that.
    var isSignedIn: Bool? {
        switch self {
        case .signedIn, .refreshed, .refreshFailed: true
        case .sessionExpired, .signedOut: false
        case .storeFailed, .storeRecovered: nil
        }
    }
}
