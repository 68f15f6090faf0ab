import Foundation
import Nautilus

/// Why there is no credential, according to the authorization server or the redirect. Failures of a session's store and
/// of other processes are thrown as `SessionError`.
public struct OAuthError: RefreshFailure, Sendable {
    /// The kind of a failure.
    public enum Kind: Hashable, Sendable {
        /// The refresh token, code or device code is invalid, or no longer valid (`invalid_grant`, RFC 6749 §5.2), or the
        /// server wants the user for another reason: the user has to sign in. ``OAuthError/code`` says which, and
        /// ``OAuthRules/endingCodes`` has the codes.
        case invalidGrant
        /// Client and server disagree about the client itself, as the server's error code says: `invalid_client`,
        /// `unauthorized_client`, `unsupported_grant_type`, `invalid_request`, `invalid_scope`. It is a mistake in the
        /// configuration and says nothing about the user's credential, which is kept.
        case misconfigured(code: String)
        /// The user or the server has denied access (`access_denied`).
        case accessDenied
        /// The device code has expired before the user approved it (`expired_token`, RFC 8628 §3.5).
        case deviceCodeExpired
        /// The server is overloaded, down or out of reach for now; the underlying error tells more.
        case unavailable
        /// The request was sent, and its answer never came: the server may have spent the refresh token.
        case answerLost
        /// The reply does not follow the standard; `reason` tells what is wrong, without repeating any of the reply.
        case malformedReply(reason: String)
        /// The redirect does not answer this authorization request: its `state` is missing or different.
        case stateMismatch
        /// The redirect, or the metadata, comes from another issuer (RFC 9207, RFC 8414 §3.3).
        case issuerMismatch
        /// The server's metadata names no endpoint for such requests.
        case noEndpoint(name: String)
        /// Secrets do not go over plain `http`, except to this machine (RFC 6749 §3.2).
        case insecureUrl
        /// A URL or parameter cannot be used; `reason` says which and why.
        case invalidParameter(reason: String)
        /// The credential has expired, and there is no refresh token to replace it with.
        case noRefreshToken
        /// A call needs more than the credential allows (RFC 6750 §3.1): sign in again with this scope. The scope is
        /// empty when the server does not name it.
        case insufficientScope(OAuthScope)
        /// A call needs the user to have authenticated in another way, or more recently (RFC 9470 §3): sign in again
        /// with these `acr_values`, in order of preference, and `max_age`. They are empty and nil where the server does
        /// not say.
        case insufficientAuthentication(acrValues: [String], maxAge: Duration?)
        /// The task that waited for the result was cancelled.
        case cancelled
    }

    /// The kind of failure.
    public var kind: Kind
    /// The server's own words for developers (`error_description`); nil when there are none. They are not printed,
    /// since a server may repeat anything in them.
    public var serverDescription: String?
    /// The failed call to the authorization server; nil when there was none.
    public var httpError: HttpError?
    /// The server's error code, such as `invalid_grant` or `login_required`; nil when the server has named none. At most
    /// 64 printable characters, and `‹redacted›` if it repeats a secret.
    public var code: String? { reply?.code }

    /// The server's refusal; nil when the answer names no error, or there is none.
    var reply: ErrorReply?
    /// The time between two polls that the answer names (RFC 8628 §3.2); nil when it names none.
    var interval: Duration?
    /// Whether the answer may be the remains of a token reply that broke off.
    var isCutReply = false

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

    /// Whether the same request may succeed later by itself: the server was out of reach or overloaded, or the answer
    /// was lost.
    public var isTransient: Bool {
        switch kind {
        case .unavailable, .answerLost: true
        default: false
        }
    }

    /// How long the authorization server asks the caller to wait; nil when it does not say.
    public var retryAfter: Duration? { httpError?.retryAfter }

    /// Whether the session is over, and only a sign-in by the user can help: ``Kind/invalidGrant``, which
    /// ``OAuthRules/endingCodes`` decides, and ``Kind/noRefreshToken``.
    ///
    /// No other kind ends a session: a misconfigured client, an outage or a senseless reply say nothing about the
    /// credential.
    public var endsSession: Bool {
        kind == .invalidGrant || kind == .noRefreshToken
    }
}

extension OAuthError: WrappingError {
    package var wrapped: (any Error)? { httpError }
}

extension OAuthError: PrintableError, Redacted, LocalizedError {
    /// The failure, what to do about it, and the underlying failed call.
    ///
    /// Contains no token, no body, no query and none of the server's own words.
    public var description: String {
        httpError.map { "\(sentence) (\($0))" } ?? sentence
    }

    private var sentence: String {
        guard kind == .invalidGrant, let code else { return kind.sentence }
        return "The sign-in is no longer good (\(code)); ask the user to sign in again."
    }

    /// The same as ``description``, followed by the trace of the failed call.
    public var debugDescription: String {
        httpError.map { "\(sentence) (\($0.debugDescription))" } ?? description
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// Shows what ``debugDescription`` shows, so that `dump` of an error leaks nothing either.
    public var customMirror: Mirror { Mirror(self, children: ["error": debugDescription]) }
}

extension OAuthError.Kind {
    fileprivate var sentence: String {
        switch self {
        case .invalidGrant:
            "The sign-in is no longer good (invalid_grant); ask the user to sign in again."
        case .misconfigured(let code):
            "The authorization server refuses the client (\(code)); "
                + "compare its id, its authentication and the request with what is registered there."
        case .accessDenied:
            "The user, or the authorization server, has denied access; ask again only if the user wants it."
        case .deviceCodeExpired:
            "The device code expired before it was approved; get a new one and show it to the user."
        case .unavailable:
            "The authorization server is not available; try again later."
        case .answerLost:
            "The request was sent and its answer was lost; the server may have acted on it. "
                + "Try again later, and ask the user to sign in if that is refused."
        case .malformedReply(let reason):
            "The authorization server's reply is not what the standard says: \(reason); check the endpoint's URL."
        case .stateMismatch:
            "The redirect answers no request of this sign-in (state); drop it, and start the sign-in again."
        case .issuerMismatch:
            "It comes from another issuer than the one that was asked; "
                + "compare the issuer's URL with the one in the server's metadata, byte by byte."
        case .noEndpoint(let name):
            "The authorization server is not known to have a \(name); set it, or use what the server offers."
        case .insecureUrl:
            "Secrets do not go over plain http, except to this machine; use https."
        case .invalidParameter(let reason):
            "A parameter cannot be used: \(reason)."
        case .noRefreshToken:
            "The credential has expired and there is no refresh token; ask the user to sign in again."
        case .insufficientScope(let scope):
            scope.isEmpty
                ? "The call needs more than the credential allows; sign in again with a wider scope."
                : "The call needs more than the credential allows; sign in again with the scope \"\(scope)\"."
        case .insufficientAuthentication:
            "The call needs the user to authenticate in another way, or again; sign in with the acr_values and max_age given."
        case .cancelled:
            "Nobody waits for the credential any more."
        }
    }
}

extension OAuthError {
    /// Translates the failure of a request to the authorization server.
    ///
    /// - Parameters:
    ///   - error: The failure.
    ///   - rules: The rules that read the answer. Default: those of the standard.
    ///   - secrets: The values that were sent; if the server repeats one of them, it is not printed.
    ///   - spends: Whether the request spends something, so that it matters whether it ran. Default: true, as for a
    ///     refresh.
    init(_ error: HttpError, _ rules: OAuthRules = .standard, hiding secrets: [String] = [], spends: Bool = true) {
        let reply = error.response.flatMap { ErrorReply($0, rules: rules, hiding: secrets) }
        var kind = Kind(error, reply)
        if kind == .unavailable, spends, error.hasUnansweredAttempt { kind = .answerLost }
        self.init(kind, serverDescription: reply?.serverDescription, httpError: error)
        self.reply = reply
        interval = error.response.flatMap { try? ReplyFields($0) }?.seconds("interval")
    }

    /// Translates a successful response that cannot be used.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - malformed: What is wrong with it.
    ///   - rules: The rules that read the answer. Default: those of the standard.
    ///   - secrets: The values that were sent; if the server repeats one of them, it is not printed.
    init(
        _ response: HttpResponse<Data>,
        _ malformed: MalformedReply,
        _ rules: OAuthRules = .standard,
        hiding secrets: [String] = []
    ) {
        let reply = ErrorReply(response, rules: rules, hiding: secrets)
        // Some servers refuse with 200. A redirect may not come from the server itself, and must not end a session.
        let isSuccess = (200...299).contains(response.status)
        self.init(
            (isSuccess ? reply?.kind : nil) ?? .malformedReply(reason: malformed.reason),
            serverDescription: isSuccess ? reply?.serverDescription : nil,
            httpError: HttpError(unusable: response)
        )
        self.reply = reply
        interval = (try? ReplyFields(response))?.seconds("interval")
        isCutReply = isSuccess && reply == nil && ReplyFields.mayBeRemains(of: response)
    }
}

extension OAuthError.Kind {
    fileprivate init(_ error: HttpError, _ reply: ErrorReply?) {
        switch error.kind {
        case .cancelled: self = .cancelled
        case .invalidRequest(let reason): self = .invalidParameter(reason: reason.description)
        case .redirect(let refusal): self = .malformedReply(reason: refusal.description)
        case .decoding: self = .malformedReply(reason: "it does not decode")
        case .status(let status): self.init(status: status, reply)
        case .environmentChanged: self = .invalidParameter(reason: "the endpoint has moved while it was asked")
        case .transport, .timeout, .deadline, .responseTooLarge, .refused, .authorization, .custom: self = .unavailable
        }
    }

    private init(status: Int, _ reply: ErrorReply?) {
        switch status {
        // Overload and outage say nothing about the grant, whatever the body says.
        case 408, 425, 429, 500...599: self = .unavailable
        case 400...499: self = reply?.kind ?? .malformedReply(reason: "status \(status) without an error code")
        default: self = .malformedReply(reason: "status \(status)")
        }
    }
}

extension HttpError {
    /// A successful response that cannot be used, as a failure: with its trace, but without its body, which may hold
    /// tokens.
    fileprivate init(unusable response: HttpResponse<Data>) {
        self.init(
            (200...299).contains(response.status) ? .decoding : .status(response.status),
            stage: .decode,
            request: response.trace.request,
            response: response.replacingBody(Data()),
            retryAfter: response.header.retryAfter(),
            attempt: response.trace.attempts.count
        )
        trace = response.trace
    }
}
