/// An event of a coordinator's session: generations, never a credential.
public enum RefreshEvent: Sendable {
    /// Somebody signed in; the credential is this generation.
    case signedIn(generation: Int)
    /// A refresh, or a replacement from outside, brought this generation.
    case refreshed(generation: Int)
    /// Refreshing this generation failed for now; it is kept.
    case refreshFailed(generation: Int, RefreshError)
    /// Refreshing this generation failed for good: the user has to sign in.
    case sessionExpired(generation: Int, RefreshError)
    /// The user signed out; this generation was the last.
    case signedOut(generation: Int)
}
