import Foundation
import Nautilus

extension TokenEndpoint {
    /// Begins a sign-in by browser: the authorization code grant with PKCE (RFC 6749 §4.1, RFC 7636, RFC 8252). Nothing
    /// is sent. State and verifier are 32 random bytes each, from the system's generator.
    ///
    /// - Parameters:
    ///   - redirect: The registered URL that the browser comes back to, without a fragment: `https`, `http` to this
    ///     machine (RFC 8252 §7.3), or a scheme of the app's own (§7.1).
    ///   - scope: The scope to ask for. Default: nil, the server's own choice.
    ///   - parameters: More parameters, such as `prompt`, `login_hint` or `audience`, sent sorted by name. The client's
    ///     own are not added, since the browser's URL is no place for secrets. Default: none, which every server
    ///     accepts.
    /// - Throws: ``OAuthError``: ``OAuthError/Kind/noEndpoint(name:)``; ``OAuthError/Kind/insecureUrl`` for the
    ///   endpoint or the redirect; ``OAuthError/Kind/invalidParameter(reason:)`` for a parameter that the library sets
    ///   itself, for a redirect that no app receives, such as `javascript:` or `file:`, and if the server says that it
    ///   does not accept S256, without which a stolen code could be used (RFC 9700 §2.1.1).
    public func authorize(
        redirect: any UrlConvertible,
        scope: OAuthScope? = nil,
        parameters: HttpQuery = [:]
    ) throws(OAuthError) -> AuthorizationRequest {
        let endpoint = try EndpointUrl(server.authorizationEndpoint, name: "authorization_endpoint")
        try Pkce.check(server)
        let redirect = redirect.urlString
        try Self.check(redirect: redirect)
        let (state, verifier) = (randomness.secret(), randomness.secret())

        var query: HttpQuery = ["response_type": "code", "client_id": client.id, "redirect_uri": redirect]
        if let scope, !scope.isEmpty { query.add(scope.description, to: "scope") }
        query.add(state.text, to: "state")
        query.add(Pkce.challenge(of: verifier.text), to: "code_challenge")
        query.add(Pkce.method, to: "code_challenge_method")
        for field in TokenForm.fields(of: parameters).sorted(by: { $0.name < $1.name }) {
            guard !field.name.isEmpty else { throw OAuthError(.unwritableParameters) }
            guard !Self.ownParameters.contains(field.name.lowercased()) else {
                throw OAuthError(.invalidParameter(reason: "\(field.name) is set by the library"))
            }
            query.add(field.value, to: field.name)
        }
        return AuthorizationRequest(
            url: try endpoint.url(adding: query),
            redirect: redirect,
            issuer: server.issuer,
            scope: scope,
            state: state,
            verifier: verifier
        )
    }

    /// Ends a sign-in by browser: checks the redirect, and exchanges its code for a credential (RFC 6749 §4.1.3).
    ///
    /// - Parameters:
    ///   - redirect: The URL that the browser was redirected to.
    ///   - request: The request that ``authorize(redirect:scope:parameters:)`` returned.
    ///   - parameters: More parameters of the token request, in addition to the client's. Default: none.
    /// - Throws: ``OAuthError``. Nothing is sent unless the redirect answers `request`: it leads to the same URL, or
    ///   else ``OAuthError/Kind/invalidParameter(reason:)``; its `state` is the request's
    ///   (``OAuthError/Kind/stateMismatch``); its issuer, if it names one, is the request's (RFC 9207,
    ///   ``OAuthError/Kind/issuerMismatch``); and it has exactly one code and no error. Nothing is sent either when the
    ///   request is being exchanged or was exchanged before: ``OAuthError/Kind/invalidParameter(reason:)``. An exchange
    ///   whose answer was lost counts, since the server may have issued a token; one does not count if the server has
    ///   certainly not looked at the code: no connection, 429, 503 with `Retry-After`.
    public func exchange(
        _ redirect: URL,
        for request: AuthorizationRequest,
        parameters: HttpQuery = [:]
    ) async throws(OAuthError) -> OAuthCredential {
        // The code of one server must not be shown to another (RFC 9700 §4.4).
        guard request.issuer.utf8.elementsEqual(server.issuer.utf8) else { throw OAuthError(.issuerMismatch) }
        let answer = try RedirectReply(redirect.absoluteString, to: request.redirect)
        let code = try answer.code(for: request, namesIssuer: server.namesIssuerInRedirects)
        var form = TokenForm(
            .init("grant_type", "authorization_code"),
            .init("code", code),
            .init("redirect_uri", request.redirect),
            .init("code_verifier", request.verifier.text)
        )
        try form.add(client, TokenForm.fields(of: parameters))
        // A server treats a code that comes twice as stolen, and revokes what the first exchange issued (§4.1.2).
        guard request.redeem() else {
            throw OAuthError(.invalidParameter(reason: "this sign-in has been exchanged before; begin another one"))
        }
        do throws(OAuthError) {
            return try await reply(to: form).completed(requested: request.scope, receivedAt: wallClock())
        } catch {
            // This delivery covers all attempts: an earlier attempt that may have run counts, even if the last was
            // never sent.
            if error.httpError?.delivery != .maybeExecuted { request.unredeem() }
            throw error
        }
    }

    /// Refuses a redirect that must not carry a code, because others could read it or no server may redirect there (RFC
    /// 6749 §3.1.2).
    private static func check(redirect: String) throws(OAuthError) {
        guard redirect.utf8.allSatisfy({ 0x21...0x7E ~= $0 }), !redirect.utf8.contains(UInt8(ascii: "#")),
            let target = RedirectTarget(redirect[...])
        else {
            throw OAuthError(.invalidParameter(reason: "redirect_uri: it must be an absolute URL without a fragment"))
        }
        guard target.hasSchemeForCodes else {
            throw OAuthError(.invalidParameter(reason: "redirect_uri: its scheme cannot belong to an app"))
        }
        guard target.scheme == "http" || target.scheme == "https" else { return }
        _ = try EndpointUrl(redirect, name: "redirect_uri")
    }

    private static let ownParameters: Set<String> = [
        "client_id", "code_challenge", "code_challenge_method", "redirect_uri", "response_type", "scope", "state",
    ]
}
