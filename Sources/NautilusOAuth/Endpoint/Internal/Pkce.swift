import Nautilus

/// Proof Key for Code Exchange (RFC 7636): ties an authorization code to the client that asked for it, so that a code
/// that is stolen on its way through the browser is of no use.
///
/// The client keeps a random verifier, sends only its hash with the browser, and shows the verifier itself when it
/// exchanges the code. For the steps, see ``TokenEndpoint/authorize(redirect:scope:parameters:)`` and
/// ``TokenEndpoint/exchange(_:for:parameters:)``; ``AuthorizationRequest`` keeps the verifier in between.
enum Pkce {
    /// The only method in use, SHA-256; the other one, `plain`, would send the verifier itself with the browser.
    static let method = "S256"

    /// The challenge of a verifier (RFC 7636 §4.2).
    static func challenge(of verifier: String) -> String {
        String(base64Url: Sha256.hash(verifier.utf8))
    }

    /// Checks that a server does not rule out ``method``; one that names no methods may still support it.
    ///
    /// - Throws: ``OAuthError/Kind/invalidParameter(reason:)``.
    static func check(_ server: AuthorizationServer) throws(OAuthError) {
        guard server.codeChallengeMethods?.contains(method) ?? true else {
            throw OAuthError(.invalidParameter(reason: "code_challenge_method: the server does not take \(method)"))
        }
    }
}
