/// How answers are kept apart that the server gives to one user and not to another.
///
/// Interceptors see a request before the retrier has stamped the user's credential on it, so nothing in it tells whose
/// it will be. What has been stamped is seen, however, so that an answer to a request with a credential is never taken
/// for everybody's. Any field that may hold a secret counts as one: `Authorization`, `Cookie`, `X-Api-Key`.
public enum CacheAccounts: Sendable {
    /// Only answers to requests without any credential are shared; all others pass by.
    case anonymousOnly
    /// Answers to requests with a credential are shared within an account, and with no other.
    ///
    /// The closure is asked before the request is sent, when it has been stamped, and when its answer has come: one
    /// that changes meanwhile has the answer shared with nobody. It names whatever the credential decides, or nil when
    /// nobody is signed in, and must answer at once.
    ///
    /// ```swift
    /// let cache = HttpCache(accounts: .separate { _ in session.userId })
    /// ```
    case separate(@Sendable (HttpRequest) -> String?)

    /// Whose answers a request may get now.
    func partition(for request: HttpRequest) -> CachePartition {
        switch self {
        case .anonymousOnly: CachePartition(account: nil)
        case .separate(let account): CachePartition(account: account(request))
        }
    }
}
