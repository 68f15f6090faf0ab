import Foundation
import Nautilus

/// A sign-in by browser that has begun: the URL to visit, and the values to check its answer against.
///
/// Show ``url`` in the system's browser, and hand the URL that it is redirected to, together with this value, to
/// ``TokenEndpoint/exchange(_:for:)``. It is good for one sign-in.
public struct AuthorizationRequest: Sendable {
    /// The URL to show in the browser. Its secrets are of no use without this value, but it belongs in no log.
    public let url: URL
    /// The URL that the browser comes back to, as it was given.
    public let redirect: String
    /// The issuer it was made for: an answer is never taken to another server.
    let issuer: String
    /// The scope to ask for; nil for the server's own choice.
    let scope: OAuthScope?
    /// The value that ties the redirect to this request (RFC 6749 §10.12).
    let state: Secret
    /// The proof that the client that redeems the code is the one that began (RFC 7636).
    let verifier: Secret
    /// Shared by all copies.
    private let isRedeemed = Locked(false)

    init(url: URL, redirect: String, issuer: String, scope: OAuthScope?, state: Secret, verifier: Secret) {
        (self.url, self.redirect, self.issuer) = (url, redirect, issuer)
        (self.scope, self.state, self.verifier) = (scope, state, verifier)
    }

    /// Takes note that it is being exchanged.
    ///
    /// - Returns: False when that has happened before.
    func redeem() -> Bool {
        isRedeemed.withLock { isRedeemed in
            defer { isRedeemed = true }
            return !isRedeemed
        }
    }

    /// Takes the note back: the server has not looked at its code.
    func unredeem() { isRedeemed.withLock { $0 = false } }
}

extension AuthorizationRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The issuer; never the state or the verifier.
    public var description: String { "AuthorizationRequest(\(issuer))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
