/// Why a ``RefreshCoordinator`` has no credential to give.
public enum RefreshError: Error, Sendable {
    /// No user is signed in, or the call's user has signed out meanwhile, in this or another process.
    case signedOut
    /// The server has ended the call's session: a refresh failed for good. `underlying` is the
    /// ``Terminal`` it threw, or the error that was adopted from another process.
    case sessionExpired(underlying: any Error)
    /// The refresh that the call waited for failed. The credential is kept; the next refresh may start after
    /// `remaining`, longer than the call can wait.
    case failed(remaining: Duration, underlying: any Error)
    /// The last refresh failed with `underlying`, and the next one may start after `remaining`, longer than the call
    /// can wait.
    case coolingDown(remaining: Duration, underlying: any Error)
    /// The window's limit of refreshes is used up, because the server keeps rejecting what they return; the next
    /// refresh may start after `remaining`.
    case tooManyRefreshes(limit: Int, window: Duration, remaining: Duration)
    /// The refresh took longer than ``RefreshLimits/timeLimit``; if it still succeeds, its credential is kept. The next
    /// refresh may start after `remaining`; nil while two are still running although they were cancelled.
    case timedOut(limit: Duration, remaining: Duration?)
    /// Somebody else has signed in since the call began, in whichever process: the call's session is over.
    case superseded
    /// A refresh asked its own coordinator for a credential. The calls that waited for it fail with this error as well,
    /// however the refresh has wrapped it: it is a mistake in the program, not a failure of the server.
    case recursive
    /// The request goes to `origin`, but the credential is for other origins: see ``CredentialOrigins``.
    case foreignOrigin(_ origin: HttpOrigin, own: [HttpOrigin])
    /// The request goes over plain `http` to another machine, so anybody on the way could read the credential.
    case insecureOrigin(_ origin: HttpOrigin)

    /// How long after the call's failure the next refresh may start; nil when time alone does not help.
    public var retryAfter: Duration? {
        switch self {
        case .failed(let remaining, _), .coolingDown(let remaining, _), .tooManyRefreshes(_, _, let remaining):
            remaining
        case .timedOut(_, let remaining): remaining
        case .signedOut, .sessionExpired, .superseded, .recursive, .foreignOrigin, .insecureOrigin: nil
        }
    }
}

extension RefreshError: PrintableError, Redacted {
    /// The failure, and what to do about it. Of an underlying error that is not the framework's, shows only the type,
    /// since its text may hold a secret.
    public var description: String {
        switch self {
        case .signedOut:
            "Nobody is signed in, or the user has signed out meanwhile; call signIn(_:) first."
        case .sessionExpired(let underlying):
            "The session has expired (\(Self.summary(of: underlying))); ask the user to sign in again."
        case .failed(let remaining, let underlying):
            "The credential could not be refreshed (\(Self.summary(of: underlying))); "
                + "the next refresh may start in \(remaining.brief).\(Self.advice(on: underlying))"
        case .coolingDown(let remaining, let underlying):
            "The last refresh failed (\(Self.summary(of: underlying))); the next may start in \(remaining.brief)."
                + Self.advice(on: underlying)
        case .tooManyRefreshes(let limit, let window, let remaining):
            "\(limit) refreshes have started within \(window.brief), as many as are allowed; the next may start in "
                + "\(remaining.brief). Check that the server accepts what a refresh returns."
        case .timedOut(let limit, let remaining?):
            "The refresh took longer than \(limit.brief); the next may start in \(remaining.brief)."
        case .timedOut(let limit, nil):
            "Two refreshes have taken longer than \(limit.brief), and have not ended although they were cancelled; "
                + "check that the refresh responds to cancellation."
        case .superseded:
            "Somebody else has signed in while the call was under way; start it again for the present user."
        case .recursive:
            "A refresh asked its own coordinator for a credential; send it through a service without this coordinator."
        case .foreignOrigin(let origin, let own):
            "The credential is for \(own.map(\.description).joined(separator: ", ")), and not sent to \(origin); "
                + "use one session for each environment, or name all origins of this one."
        case .insecureOrigin(let origin):
            "The credential is not sent over plain http to \(origin); use https, or name the origin to allow it."
        }
    }

    private static func summary(of error: any Error) -> String {
        switch error {
        case let error as any PrintableError: error.description
        default: String(describing: type(of: error))
        }
    }

    /// A hint when the token endpoint answered 400 or 401: this usually means the end of the session, but only the app
    /// can tell.
    private static func advice(on error: any Error) -> String {
        guard let status = (error as? any WrappingError)?.answeredStatus, [400, 401].contains(status) else { return "" }
        return " The server answered \(status); throw RefreshError.Terminal if that ends the session."
    }
}

extension RefreshError: WrappingError {
    package var wrapped: (any Error)? {
        switch self {
        case .sessionExpired(let underlying), .failed(_, let underlying), .coolingDown(_, let underlying): underlying
        case .signedOut, .tooManyRefreshes, .timedOut, .superseded, .recursive, .foreignOrigin, .insecureOrigin: nil
        }
    }
}

/// An error of a refresh that says what it means for the next one.
///
/// Conform your own error to it if some of your failures do not pass with time. Any other error counts as transient:
/// calls wait for the next refresh as long as ``RefreshLimits`` and their deadline allow.
///
/// Only ``RefreshError/Terminal`` ends the session. An error that is not transient keeps the session, as a transient
/// one does, but calls fail at once, since waiting would not help: a client that is not registered, a reply that does
/// not decode.
public protocol RefreshFailure: Error {
    /// Whether the same refresh may succeed later by itself.
    var isTransient: Bool { get }
    /// How long the token endpoint asks to wait; nil when it names no time. The cool-down lasts at least as long, up to
    /// ``RefreshLimits/retryAfterCap``.
    var retryAfter: Duration? { get }
}

extension RefreshError: RefreshFailure {
    /// Whether a later refresh may succeed without any change. Asked when a refresh fails with another coordinator's
    /// error.
    public var isTransient: Bool {
        switch self {
        case .failed(_, let underlying), .coolingDown(_, let underlying):
            (underlying as? any RefreshFailure)?.isTransient ?? true
        case .timedOut, .tooManyRefreshes: true
        case .signedOut, .sessionExpired, .superseded, .recursive, .foreignOrigin, .insecureOrigin: false
        }
    }
}

extension RefreshError {
    /// An error that a refresh throws to end the session: trying again cannot help, the user has to sign in.
    ///
    /// Throw it for `invalid_grant` (RFC 6749 §5.2) and when there is no refresh token. Every other error counts as
    /// transient: the credential is kept and a later call refreshes again.
    public struct Terminal: PrintableError, Redacted {
        /// The reason, to be read by people; contains no secret.
        public let reason: String
        /// The error underneath; nil when there is none.
        public let underlying: (any Error)?

        /// Creates the failure.
        ///
        /// - Parameters:
        ///   - reason: The reason, to be read by people, such as `invalid_grant`. It is printed, so it must hold no
        ///     secret.
        ///   - underlying: The error that led to it. Default: nil, as when there was no refresh token to begin with.
        public init(_ reason: String, underlying: (any Error)? = nil) {
            self.reason = reason
            self.underlying = underlying
        }

        /// The reason.
        public var description: String { reason }
    }
}

/// An event of a coordinator's session, with generations, never a credential.
public enum RefreshEvent: Sendable {
    /// Somebody signed in, with a credential of this generation.
    case signedIn(generation: Int)
    /// A refresh, or a replacement from outside, brought this generation.
    case refreshed(generation: Int)
    /// Refreshing this generation failed for now; the credential is kept.
    case refreshFailed(generation: Int, RefreshError)
    /// Refreshing this generation failed for good: the user has to sign in.
    case sessionExpired(generation: Int, RefreshError)
    /// The user signed out; this was the last generation.
    case signedOut(generation: Int)
}
