import Foundation
import Nautilus

/// How answers are kept apart that the server gives to one user and not to another.
///
/// Interceptors see a request before the retrier has stamped the user's credential on it, so nothing in it shows which
/// user's it will be. The stamped request is seen, however, so that an answer to a request with a credential is never
/// taken for one that is the same for all users. Any field that may hold a secret counts as one: `Authorization`,
/// `Cookie`, `X-Api-Key`.
public enum CacheAccounts: Sendable {
    /// Only answers to requests without any credential are shared; all others pass by.
    case anonymousOnly
    /// Answers to requests with a credential are shared within an account, and with no other.
    ///
    /// A call belongs to the account that the closure names when it begins, before its retrier is made
    /// (`ServicePart/noteFacts(of:in:)`). The closure is asked again with each attempt, when it has been stamped, and
    /// when its answer has come: as soon as it names another, the call passes by, is given nothing of either account,
    /// and leaves nothing to any. It names the account that the credential stands for, or nil when nobody is signed in, or
    /// when that is not known yet, and must answer at once. Then the call passes by, as it does with an empty name, which
    /// tells no users apart. What guests are given, through `HttpService/signedOut`, is kept apart from all accounts. The
    /// closure is given the request as it was declared, for a service whose requests name their user.
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

    /// The account of a call; nil for one that `owner` has not noted, since it began when the service did not have it.
    func account(of context: AttemptContext, notedBy owner: any AnyObject & Sendable) -> CallAccount? {
        if context.facts.isSignedOut { return CallAccount(nil) { nil } }
        return switch self {
        case .anonymousOnly: CallAccount(nil) { nil }
        case .separate: (context.facts.fact(notedBy: owner) as? CallAccount).flatMap { $0.isNamed ? $0 : nil }
        }
    }
}

/// The account that a call belongs to: the one that it began with.
struct CallAccount: Sendable {
    let partition: CachePartition
    private let name: @Sendable () -> String?

    /// - Parameters:
    ///   - account: The account at the call's beginning; nil for none.
    ///   - name: The account at any time.
    init(_ account: String?, at name: @escaping @Sendable () -> String?) {
        (self.partition, self.name) = (CachePartition(account: account), name)
    }

    /// Whether it has a name that tells it from others.
    var isNamed: Bool { partition.account?.isEmpty == false }

    /// Whether the account is still the same, so that what comes may be kept, and what is kept given.
    var isCurrent: Bool { name() == partition.account }
}

/// The account whose answers belong together.
struct CachePartition: Hashable, Sendable {
    /// Nil for answers that belong to no account.
    let account: String?

    /// Names the partition without showing the account.
    var digest: String {
        let text = account.map { "account \($0)" } ?? "nobody"
        return String(Sha256.hash(text.precomposedStringWithCanonicalMapping.utf8).hexadecimal.prefix(32))
    }
}

extension CachePartition: Redacted {
    /// Whether there is an account, not which.
    var description: String { account == nil ? "nobody's" : "an account's" }
}
