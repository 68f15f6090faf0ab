import Foundation
import Nautilus

/// How the answers of an authorization server are read. Each rule can be changed on its own, for a server that deviates
/// from the standard.
///
/// ```swift
/// let github = OAuthRules.standard.with { $0.endingCodes.insert("bad_refresh_token") }
/// let endpoint = TokenEndpoint(server: server, client: client, rules: github)
/// ```
/// A changed rule can ask the one that it replaces: `OAuthRules.standard.errorCode(answer)`.
public struct OAuthRules: Sendable {
    /// Reads the credential from an answer with a status of 200 to 299.
    ///
    /// An error that it throws means that the answer is not a reply; ``errorCode`` is asked next. The endpoint itself
    /// notes when the credential was received, and keeps what a refresh leaves out: the refresh token, the scope and
    /// the other fields. Default: a JSON object with an `access_token` (RFC 6749 §5.1), whatever its `Content-Type`, or
    /// a form that is labelled as a form or as text.
    public var reply: @Sendable (_ answer: HttpResponse<Data>) throws -> OAuthCredential
    /// Reads the error code from any other answer; nil when it names none. Default: `error` (RFC 6749 §5.2), which some
    /// servers send with 200.
    ///
    /// The code of an answer with 408, 425, 429 or 5xx counts only while a device is polled: an overload or an outage
    /// never ends a session.
    public var errorCode: @Sendable (_ answer: HttpResponse<Data>) -> String?
    /// The error codes that end a session: the user has to sign in. They become ``OAuthError/Kind/invalidGrant``.
    /// Default: `invalid_grant`, and `interaction_required`, `login_required`, `account_selection_required` and
    /// `consent_required` (OpenID Connect Core §3.1.2.6).
    public var endingCodes: Set<String>
    /// The token types whose tokens are sent as `Authorization: Bearer`, in any case. Default: `bearer`; with another
    /// type, calls fail and nothing is sent (RFC 6749 §7.1).
    public var tokenTypes: Set<String>

    /// The rules of the standard, which all endpoints have unless they name others.
    public static let standard = OAuthRules(
        reply: { answer in
            let contentType = answer.header.values(of: .contentType).first
            return try OAuthCredential(reply: answer.body, contentType: contentType)
        },
        errorCode: { answer in try? ReplyFields(answer).text("error") },
        endingCodes: [
            "account_selection_required", "consent_required", "interaction_required", "invalid_grant", "login_required",
        ],
        tokenTypes: ["bearer"]
    )

    /// The same rules with a change.
    public func with<Failure: Error>(_ change: (inout Self) throws(Failure) -> Void) throws(Failure) -> Self {
        var rules = self
        try change(&rules)
        return rules
    }

    /// Whether tokens of this type are sent.
    func accepts(_ tokenType: String) -> Bool {
        let type = tokenType.trimmingCharacters(in: .whitespaces).lowercased()
        return tokenTypes.contains { $0.lowercased() == type }
    }
}
