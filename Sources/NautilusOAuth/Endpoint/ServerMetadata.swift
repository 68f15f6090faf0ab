import Foundation
import Nautilus

/// The metadata of an authorization server (RFC 8414 §2), as far as it is used here.
struct ServerMetadata: Sendable {
    let issuer: String
    let tokenEndpoint: String?
    let authorizationEndpoint: String?
    let deviceAuthorizationEndpoint: String?
    let revocationEndpoint: String?
    let namesIssuerInRedirects: Bool
    let codeChallengeMethods: [String]?

    /// Reads a document.
    ///
    /// - Throws: ``MalformedReply``.
    init(_ body: Data, contentType: String?) throws(MalformedReply) {
        let fields = try ReplyFields(body, contentType: contentType)
        issuer = try fields.requiredText("issuer")
        tokenEndpoint = try fields.text("token_endpoint")
        authorizationEndpoint = try fields.text("authorization_endpoint")
        deviceAuthorizationEndpoint = try fields.text("device_authorization_endpoint")
        revocationEndpoint = try fields.text("revocation_endpoint")
        namesIssuerInRedirects = fields.isTrue("authorization_response_iss_parameter_supported")
        codeChallengeMethods = fields.texts("code_challenge_methods_supported")
    }

    /// The server, if the document is that of the issuer that was asked, and all its URLs can be used.
    ///
    /// - Throws: ``OAuthError``.
    func server(of expected: String) throws(OAuthError) -> AuthorizationServer {
        // By bytes (§3.3): anyone who can put a document there could otherwise pass for another issuer.
        guard issuer.utf8.elementsEqual(expected.utf8) else { throw OAuthError(.issuerMismatch) }
        return AuthorizationServer(
            issuer: issuer,
            tokenEndpoint: try EndpointUrl(tokenEndpoint, name: "token_endpoint").text,
            authorizationEndpoint: try Self.checked(authorizationEndpoint, "authorization_endpoint"),
            deviceAuthorizationEndpoint: try Self.checked(deviceAuthorizationEndpoint, "device_authorization_endpoint"),
            revocationEndpoint: try Self.checked(revocationEndpoint, "revocation_endpoint"),
            namesIssuerInRedirects: namesIssuerInRedirects,
            codeChallengeMethods: codeChallengeMethods
        )
    }

    private static func checked(_ text: String?, _ name: String) throws(OAuthError) -> String? {
        guard let text else { return nil }
        return try EndpointUrl(text, name: name).text
    }
}
