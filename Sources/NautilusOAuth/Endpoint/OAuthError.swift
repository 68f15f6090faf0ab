import Nautilus

/// Why there is no credential, according to the authorization server or the redirect. Failures of a session's store and
/// of other processes are a `SessionError`.
public struct OAuthError: RefreshFailure, Sendable {
    /// The kind of a failure.
    public enum Kind: Hashable, Sendable {
        /// The refresh token, code or device code is not, or no longer, good (`invalid_grant`, RFC 6749 §5.2): the user
        /// has to sign in.
        case invalidGrant
        /// Client and server disagree about the client itself, as the server's error code says: `invalid_client`,
        /// `unauthorized_client`, `unsupported_grant_type`, `invalid_request`, `invalid_scope`. A mistake of the
        /// configuration, which says nothing of the user's credential: that is kept.
        case misconfigured(code: String)
        /// The user, or the server, has said no (`access_denied`).
        case accessDenied
        /// The device code has expired before the user approved it (`expired_token`, RFC 8628 §3.5).
        case deviceCodeExpired
        /// The server is overloaded, down or out of reach, for now; the error underneath tells more.
        case unavailable
        /// The request was sent, and its answer never came: the server may have spent the refresh token.
        case answerLost
        /// The reply is not what the standard says; `reason` tells what is wrong, and repeats nothing of the reply.
        case malformedReply(reason: String)
        /// The redirect is not the answer to this authorization request: its `state` is missing or another one.
        case stateMismatch
        /// The redirect, or the metadata, comes from another issuer (RFC 9207, RFC 8414 §3.3).
        case issuerMismatch
        /// The server has not said where it takes such requests: the metadata names no such endpoint.
        case noEndpoint(name: String)
        /// Secrets do not go over plain `http`, except to this machine (RFC 6749 §3.2).
        case insecureUrl
        /// A URL or parameter that cannot be used; `reason` says which and why.
        case invalidParameter(reason: String)
        /// The credential has expired, and there is no refresh token to replace it with.
        case noRefreshToken
        /// A call needs more than the credential allows (RFC 6750 §3.1): sign in again with this scope. Empty when the
        /// server does not name it.
        case insufficientScope(OAuthScope)
        /// A call needs the user to have authenticated in another way, or more recently (RFC 9470 §3): sign in again
        /// with these `acr_values`, in order of preference, and `max_age`. Empty, and nil, where the server does not
        /// say.
        case insufficientAuthentication(acrValues: [String], maxAge: Duration?)
        /// The task that waited for the result was cancelled.
        case cancelled
    }

    /// The kind of failure.
    public var kind: Kind
    /// The server's own words for developers (`error_description`); nil when there are none. Not printed: a server may
    /// repeat anything in them.
    public var serverDescription: String?
    /// The failed call to the authorization server; nil when there was none.
    public var httpError: HttpError?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - kind: The kind of failure.
    ///   - serverDescription: The server's `error_description`. Default: nil, none.
    ///   - httpError: The failed call. Default: nil, none.
    public init(_ kind: Kind, serverDescription: String? = nil, httpError: HttpError? = nil) {
        self.kind = kind
        self.serverDescription = serverDescription
        self.httpError = httpError
    }

    /// Whether the same may succeed later by itself: the server was out of reach or overloaded, or the answer was lost.
    public var isTransient: Bool {
        switch kind {
        case .unavailable, .answerLost: true
        default: false
        }
    }

    /// How long the authorization server asks to wait; nil when it does not say.
    public var retryAfter: Duration? { httpError?.retryAfter }

    /// Whether the session is over, and only the user's sign-in can help: ``Kind/invalidGrant`` and
    /// ``Kind/noRefreshToken``.
    ///
    /// Nothing else is: a misconfigured client, an outage or a reply that makes no sense say nothing of the credential.
    public var endsSession: Bool {
        kind == .invalidGrant || kind == .noRefreshToken
    }
}
