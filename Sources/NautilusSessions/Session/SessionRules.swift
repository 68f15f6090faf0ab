import Foundation
import Nautilus

/// All that a ``Session`` does not know of its credential: how a request carries it, how long it serves, how it is
/// refreshed, and which failure ends the session.
///
/// ```swift
/// let rules = SessionRules<ApiToken>(
///     authorize: { token, request in request.header["X-Api-Token"] = token.value },
///     lifetime: { .until($0.expires) },
///     refresh: { try await RefreshToken($0).schedule(with: service.anonymous) }
/// )
/// ```
public struct SessionRules<Credential: Sendable>: Sendable {
    let authorize: @Sendable (Credential, inout HttpRequest) throws -> Void
    let lifetime: @Sendable (Credential) -> Duration?
    let refresh: @Sendable (Credential) async throws -> Credential
    let spendsCredential: Bool
    let classify: @Sendable (any Error) -> RefreshOutcome
    let insufficiency: @Sendable (HttpError) -> (any Error)?
    let revoke: (@Sendable (Credential) async throws -> Void)?
    let sharesGrant: @Sendable (Credential, Credential) -> Bool

    /// Creates the rules of one kind of credential. The guide `Sessions` has more about each.
    ///
    /// - Parameters:
    ///   - authorize: Puts the credential on a request to the service's own origin. If it throws, the attempt fails.
    ///   - lifetime: The time left until a date that is stored with the credential, and not a span such as
    ///     `expires_in`, which would begin anew at every launch. Default: nil, until the server rejects the credential.
    ///   - spendsCredential: Whether a credential may be good for one refresh only, as with rotating tokens. Default:
    ///     true, the safe choice; false if a refresh can be repeated, as with a password or a key.
    ///   - classify: What the failure of a refresh means for the credential. Default: ``RefreshOutcome/init(_:)``.
    ///   - insufficiency: What a valid credential lacks, such as a scope, by a failure that no refresh can mend. The
    ///     result is underneath the call's error, which is of kind `authorization`; nil for anything else. Default:
    ///     always nil.
    ///   - revoke: Has the server forget the credential of a user who signs out. Tried again while its error is a
    ///     transient `RefreshFailure`, such as an `HttpError`, or after a minute. Default: nil, the server is not told.
    ///   - sharesGrant: Whether revoking the first credential also revokes the second, as with the same refresh token.
    ///     Then the first is not revoked while the second is in use. Not asked of equal credentials. Default: false.
    ///   - refresh: Makes a new credential, one refresh at a time among all processes. Send its request through the
    ///     service's `anonymous`, with a short timeout. It has to end when it is cancelled.
    public init(
        authorize: @escaping @Sendable (_ credential: Credential, _ request: inout HttpRequest) throws -> Void,
        lifetime: @escaping @Sendable (_ credential: Credential) -> Duration? = { _ in nil },
        spendsCredential: Bool = true,
        classify: @escaping @Sendable (_ error: any Error) -> RefreshOutcome = { RefreshOutcome($0) },
        insufficiency: @escaping @Sendable (_ failure: HttpError) -> (any Error)? = { _ in nil },
        revoke: (@Sendable (_ credential: Credential) async throws -> Void)? = nil,
        sharesGrant: @escaping @Sendable (_ first: Credential, _ second: Credential) -> Bool = { _, _ in false },
        refresh: @escaping @Sendable (_ credential: Credential) async throws -> Credential
    ) {
        self.authorize = authorize
        self.lifetime = lifetime
        self.spendsCredential = spendsCredential
        self.classify = classify
        self.insufficiency = insufficiency
        self.revoke = revoke
        self.sharesGrant = sharesGrant
        self.refresh = refresh
    }
}

extension SessionRules where Credential: Equatable {
    /// Whether the server forgets the second credential when it forgets the first.
    func areForgottenTogether(_ first: Credential, _ second: Credential) -> Bool {
        if first == second || sharesGrant(first, second) { return true }
        guard let one = authorized(by: first), let other = authorized(by: second) else { return false }
        return one.header == other.header && one.url == other.url
    }

    /// A request as a credential authorizes it; nil when it stays as it is.
    private func authorized(by credential: Credential) -> HttpRequest? {
        guard let url = URL(string: "https://localhost/") else { return nil }
        var request = HttpRequest(method: .get, url: url)
        guard (try? authorize(credential, &request)) != nil else { return nil }
        return request.url != url || !request.header.isEmpty ? request : nil
    }
}

/// The state of a credential after its refresh has failed.
public enum RefreshOutcome: Hashable, Sendable {
    /// The server has said that the session is over: only the user's sign-in can help.
    case ended
    /// The credential was sent, and no answer came: the server may have refreshed it. It is sent once more soon, within
    /// the grace that servers give, and again after each cool-down.
    case answerLost
    /// The answer told nothing, as a gateway's or half of one does: the server may have refreshed it. It is sent again
    /// after a cool-down.
    case unclear
    /// The server has not refreshed it: nothing has changed.
    case notRefreshed

    /// The safe reading of `error`. A session ends only by a `RefreshError.Terminal`, or by a 401 with which the
    /// refresh's own server rejects what was sent; a 400 or 403 may be about anything, so name those of your server
    /// yourself.
    ///
    /// - `HttpError`: a lost answer when any attempt was sent without one; unclear for 502 and 504, in which a gateway
    ///   has lost the answer, for a success that does not decode, and for a call that was cancelled once it was sent;
    ///   not refreshed for all others.
    /// - Any other error, also one that a service's `mapError(_:)` has made: unclear, so that nothing is taken for
    ///   unspent which may be spent.
    public init(_ error: any Error) {
        self =
            switch error {
            case is RefreshError.Terminal: .ended
            case let error as HttpError: RefreshOutcome(of: error)
            default: .unclear
            }
    }

    /// As ``init(_:)``, but answers with certain statuses end the session as well.
    ///
    /// ```swift
    /// SessionRules.bearer(classify: { RefreshOutcome($0, endedBy: [400, 403]) }, refresh: refresh)
    /// ```
    /// - Parameters:
    ///   - error: The failure of a refresh.
    ///   - statuses: The statuses by which the refresh's own server says that only a sign-in can help. Those of others,
    ///     to which a redirect led, do not count (`HttpError/isOwnAnswer`).
    public init(_ error: any Error, endedBy statuses: Set<Int>) {
        guard let failure = error as? HttpError, case .status(let status) = failure.kind,
            statuses.contains(status), failure.response == nil || failure.isOwnAnswer
        else {
            self.init(error)
            return
        }
        self = .ended
    }

    private init(of error: HttpError) {
        switch error.kind {
        case .cancelled: self = error.delivery == .notSent ? .notRefreshed : .unclear
        case .decoding: self = .unclear
        case .status(502), .status(504): self = .unclear
        case .status where error.rejectsCredential: self = .ended
        default: self = error.hasUnansweredAttempt ? .answerLost : .notRefreshed
        }
    }
}

extension HttpError {
    /// Whether the request was sent at least once without any answer, so that the server may have acted on it unseen.
    ///
    /// Earlier attempts count, too: a retrier may have repeated what may have run.
    public var hasUnansweredAttempt: Bool {
        if delivery == .maybeExecuted, response == nil { return true }
        return trace.attempts.contains { attempt in
            switch attempt.outcome {
            case .failed(_, .status, _), .succeeded: false
            case .failed(_, _, let delivery): delivery == .maybeExecuted
            }
        }
    }
}
