import Foundation
import Nautilus

/// How a cache keeps apart answers that the server gives to one user and not to another.
///
/// Interceptors see a request before the retrier has stamped the user's credential on it, so nothing in the request
/// shows whose credential it will carry. The stamped request is observed, however, so that an answer to a request with
/// a credential is never treated as one that is the same for all users. Any field that may hold a secret counts as a
/// credential: `Authorization`, `Cookie`, `X-Api-Key`.
public enum CacheAccounts: Sendable {
    /// Shares only answers to requests without any credential; all other requests bypass the cache, including those
    /// that a session will stamp (`AttemptContext/willStamp(_:)`).
    case anonymousOnly
    /// Shares answers to requests with a credential within one account, and with no other account.
    ///
    /// A call belongs to the account that the closure names when the call begins, before its retrier is made
    /// (`ServicePart/noteFacts(of:in:)`). The closure is asked again with each attempt, once it has been stamped and
    /// once its answer has come. As soon as it names another account, the call bypasses the cache: it gets no stored
    /// answer of either account, and its own answer is not stored. The closure returns the account that the credential
    /// stands for, or nil when nobody is signed in or that is not known yet, and must answer at once. With nil the call
    /// bypasses the cache, as it does with an empty name, which does not distinguish users. Answers to guests, through
    /// `HttpService/signedOut`, are kept apart from all accounts. The closure receives the request as it was declared,
    /// for a service whose requests name their user.
    ///
    /// ```swift
    /// let cache = HttpCache(accounts: .separate { _ in session.id?.uuidString })
    /// ```
    case separate(@Sendable (any Request) -> String?)

    /// Notes the account of a call.
    func note<R: Request>(_ request: R, in facts: inout CallFacts, by owner: any AnyObject & Sendable) {
        guard case .separate(let account) = self else { return }
        facts.note(CallAccount(account(request)) { account(request) }, by: owner)
    }

    /// The account that the answer to a request belongs to; nil when that is not known. In the case ``anonymousOnly``,
    /// the call will carry a credential; in the case ``separate(_:)``, the account has no name, or `owner` has not
    /// noted it because the service did not have `owner` when the call began.
    func account(
        of request: HttpRequest,
        _ context: AttemptContext,
        notedBy owner: any AnyObject & Sendable
    ) -> CallAccount? {
        if context.facts.isSignedOut { return CallAccount(nil) { nil } }
        return switch self {
        case .anonymousOnly: context.willAuthorize(request) ? nil : CallAccount(nil) { nil }
        case .separate: (context.facts.fact(notedBy: owner) as? CallAccount).flatMap { $0.isNamed ? $0 : nil }
        }
    }
}

/// The account that a call belongs to, which is the one it began with.
struct CallAccount: Sendable {
    let partition: CachePartition
    private let name: @Sendable () -> String?

    /// - Parameters:
    ///   - account: The account when the call begins; nil for none.
    ///   - name: Returns the present account at any time.
    init(_ account: String?, at name: @escaping @Sendable () -> String?) {
        (self.partition, self.name) = (CachePartition(account: account), name)
    }

    /// Whether the account has a name that distinguishes it from others.
    var isNamed: Bool { partition.account?.isEmpty == false }

    /// Whether the account is still the same, so that new answers may be kept, and stored ones given out.
    var isCurrent: Bool { name() == partition.account }
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
