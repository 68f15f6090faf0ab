import Foundation
import Nautilus

/// How a cache keeps apart answers that the server gives to one user and not to another.
///
/// Interceptors see a request before the user's credential is put on it, so nothing in the request
/// shows whose credential it will carry. The authorized request is observed, however, so that an answer to a request with
/// a credential is never treated as one that is the same for all users. Any field that may hold a secret counts as a
/// credential: `Authorization`, `Cookie`, `X-Api-Key`.
public enum CacheAccounts: Sendable {
    /// Shares only answers to requests without any credential; all other requests bypass the cache, including those
    /// that a session will authorize (`CallContext/willAuthorize(_:)`).
    case anonymousOnly
    /// Shares answers to requests with a credential within one account, and with no other account.
    ///
    /// A call belongs to the account that the closure names when the call is bound (`CallInterceptor/account(of:)`). It is
    /// asked again when the cache looks, and before an answer is stored: if it names another account by then, the call
    /// bypasses the cache. The closure returns the account that the credential stands for, or nil when nobody is signed in
    /// or that is not known yet, and must answer at once. With nil the call bypasses the cache, as it does with an empty
    /// name, which does not distinguish users. Answers to anonymous calls are kept apart from all accounts.
    ///
    /// ```swift
    /// let cache = HttpCache(accounts: .separate { _ in session.id?.uuidString })
    /// ```
    case separate(@Sendable (any Request) -> String?)

    /// The account of a request's user; nil for none.
    func account(of request: some Request) -> String? {
        guard case .separate(let account) = self else { return nil }
        return account(request)
    }

    /// The partition that the answer to a request belongs to; nil when it is not known whose it is: the call will carry a
    /// credential, its account has no name, or its session is over.
    func partition(of request: HttpRequest, _ context: CallContext) -> CachePartition? {
        if context.isAnonymous { return CachePartition(account: nil) }
        // The account's name may already be that of the next user.
        if context.isSessionOver { return nil }
        return switch self {
        case .anonymousOnly: context.willAuthorize(request) ? nil : CachePartition(account: nil)
        case .separate: context.account.flatMap { $0.isEmpty ? nil : CachePartition(account: $0) }
        }
    }
}

/// The partition of a cache whose answers belong to one account.
struct CachePartition: Hashable, Sendable {
    /// Nil for answers that belong to no account.
    let account: String?

    /// A name for the partition that does not reveal the account.
    var digest: String {
        let text = account.map { "account \($0)" } ?? "nobody"
        return String(Sha256.hash(text.precomposedStringWithCanonicalMapping.utf8).hexadecimal.prefix(32))
    }
}

extension CachePartition: Redacted {
    /// Whether there is an account, not which.
    var description: String { account == nil ? "nobody's" : "an account's" }
}
