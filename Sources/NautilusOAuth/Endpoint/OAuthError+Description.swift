import Foundation
import Nautilus

extension OAuthError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable, LocalizedError {
    /// The failure, what to do about it, and the failed call underneath.
    ///
    /// No token, no body, no query and none of the server's own words are in it.
    public var description: String {
        httpError.map { "\(kind.sentence) (\($0))" } ?? kind.sentence
    }

    /// The same as ``description``, followed by the trace of the failed call.
    public var debugDescription: String {
        httpError.map { "\(kind.sentence) (\($0.debugDescription))" } ?? description
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// Shows what ``debugDescription`` shows: `dump` of an error leaks nothing either.
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
