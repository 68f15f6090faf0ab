import Foundation
import Nautilus

extension TokenEndpoint {
    /// Begins a sign-in by browser: the authorization code grant with PKCE (RFC 6749 §4.1, RFC 7636, RFC 8252).
    ///
    /// Nothing is sent. State and verifier are 32 bytes each of the system's randomness.
    ///
    /// - Parameters:
    ///   - redirect: Where the browser comes back to, as it is registered: `https`, `http` to this machine, or a scheme
    ///     of the app's own. No fragment.
    ///   - scope: What to ask for. Default: nil, what the server gives by itself.
    ///   - parameters: What else the server is told: `prompt`, `login_hint`, `audience`. Sorted by name. Default: none.
    /// - Throws: ``OAuthError``: no endpoint, an insecure URL, a parameter that is the library's own.
    public func authorize(
        redirect: any UrlConvertible,
        scope: OAuthScope? = nil,
        parameters: [String: String] = [:]
    ) throws(OAuthError) -> AuthorizationRequest {
        throw OAuthError(.noEndpoint(name: "authorization_endpoint"))
    }

    /// Ends a sign-in by browser: checks the redirect, and exchanges its code for a credential (RFC 6749 §4.1.3).
    ///
    /// - Parameters:
    ///   - redirect: The URL that the browser was redirected to.
    ///   - request: What ``authorize(redirect:scope:parameters:)`` has made.
    /// - Throws: ``OAuthError``; nothing is sent unless the redirect is the answer to `request`.
    public func exchange(
        _ redirect: URL,
        for request: AuthorizationRequest
    ) async throws(OAuthError) -> OAuthCredential {
        throw OAuthError(.stateMismatch)
    }
}
