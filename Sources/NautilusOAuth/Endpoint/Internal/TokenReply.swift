import Foundation
import Nautilus

/// The reply of a token endpoint that has issued a token (RFC 6749 §5.1).
struct TokenReply: Sendable {
    let accessToken: String
    /// Nil when there is none; the token that was spent then stays valid (§6).
    let refreshToken: String?
    /// The type as the server writes it. `Bearer` when it is missing, since servers that leave it out issue nothing
    /// else. Another type is kept as well, along with the refresh token that may have been rotated for it, but a
    /// session sends only `Bearer`.
    let tokenType: String
    /// Nil when the server does not say, or its value cannot be read; it is then the scope that was asked for.
    let scope: OAuthScope?
    /// Nil when the server does not say, or names less than a second.
    ///
    /// Refusing the reply because of it would lose a refresh token that has been rotated; a missing expiry leads at
    /// worst to a 401 and a refresh.
    let lifetime: Duration?
    /// The reply's other fields.
    let fields: [String: String]

    /// Reads a reply as the standard has it.
    ///
    /// - Throws: ``MalformedReply``: only when there is no access token to use. No other field makes a reply useless.
    init(_ body: Data, contentType: String?) throws(MalformedReply) {
        let fields = try ReplyFields(body, contentType: contentType)
        accessToken = try fields.requiredToken("access_token")
        try Self.check(accessToken)
        tokenType = (try? fields.text("token_type")).flatMap { $0.isEmpty ? nil : $0 } ?? "Bearer"
        // Some servers send an empty text, or false, instead of omitting the field.
        refreshToken = (try? fields.token("refresh_token")).flatMap { $0.isEmpty ? nil : $0 }
        let scope = fields.joinedTexts("scope").map(OAuthScope.init(parsing:))
        self.scope = scope?.isEmpty == true ? nil : scope
        lifetime = fields.seconds("expires_in")
        self.fields = fields.texts(except: Self.ownFields)
    }

    /// Reads an answer by the rules of a session.
    ///
    /// - Throws: ``MalformedReply``.
    init(_ answer: HttpResponse<Data>, _ rules: OAuthRules) throws(MalformedReply) {
        let credential: OAuthCredential
        do {
            credential = try rules.reply(answer)
        } catch let error as MalformedReply {
            throw error
        } catch {
            // The error may quote the answer.
            throw MalformedReply("the rule for replies cannot read it")
        }
        accessToken = credential.accessToken
        guard !accessToken.isEmpty else { throw MalformedReply("access_token is empty") }
        try Self.check(accessToken)
        tokenType = credential.tokenType
        refreshToken = credential.refreshToken.flatMap { $0.isEmpty ? nil : $0 }
        scope = credential.scope.flatMap { $0.isEmpty ? nil : $0 }
        lifetime = credential.lifetime.flatMap { $0 < .seconds(1) ? nil : $0 }
        fields = credential.fields
    }

    /// The fields that are properties of a credential.
    private static let ownFields: Set<String> = ["access_token", "expires_in", "refresh_token", "scope", "token_type"]

    /// Allows the characters that RFC 6749 appendix A.12 allows, and that any header can carry.
    private static func check(_ accessToken: String) throws(MalformedReply) {
        guard accessToken.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
            throw MalformedReply("access_token has characters that no token has")
        }
    }

    /// The credential that the reply makes. Values that the reply leaves out stay as they were, except for the
    /// lifetime.
    ///
    /// - Parameters:
    ///   - old: The credential that it replaces; nil for a sign-in.
    ///   - requested: The scope that was asked for; nil when none was named.
    ///   - now: When the reply arrived.
    func credential(
        replacing old: OAuthCredential? = nil,
        requested: OAuthScope? = nil,
        receivedAt now: Date
    ) -> OAuthCredential {
        OAuthCredential(
            accessToken: accessToken,
            refreshToken: refreshToken ?? old?.refreshToken,
            tokenType: tokenType,
            scope: scope ?? requested.flatMap { $0.isEmpty ? nil : $0 } ?? old?.scope,
            lifetime: lifetime,
            receivedAt: now,
            fields: (old?.fields ?? [:]).merging(fields) { $1 }
        )
    }
}

extension TokenReply: Redacted {
    /// Never a token.
    var description: String { "TokenReply(\(tokenType))" }
}
