/// Thrown by a refresh to end the session: trying again cannot help, the user has to sign in.
///
/// Throw it for `invalid_grant` (RFC 6749 §5.2) and when there is no refresh token. Every other error counts as
/// transient: the credential is kept and a later call refreshes again.
public struct TerminalRefreshFailure: PrintableError, CustomDebugStringConvertible, CustomReflectable {
    /// Why, for people: no secret.
    public let reason: String
    /// The error underneath; nil when there is none.
    public let underlying: (any Error)?

    /// Creates the failure.
    ///
    /// - Parameters:
    ///   - reason: Why, for people: `invalid_grant`, say. It is printed, so no secret.
    ///   - underlying: The error that led to it. Default: nil, none did: there was no refresh token to begin with.
    public init(_ reason: String, underlying: (any Error)? = nil) {
        self.reason = reason
        self.underlying = underlying
    }

    /// The reason.
    public var description: String { reason }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows the reason, not the error underneath, whose text may hold a secret.
    public var customMirror: Mirror { Mirror(self, children: ["reason": reason]) }
}
