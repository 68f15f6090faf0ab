import Foundation
import Nautilus

/// The replies of a token endpoint that has issued a token (RFC 6749 §5.1).
extension OAuthCredential {
    /// Reads a reply as the standard has it.
    ///
    /// - Throws: ``MalformedReply``: only when there is no access token to use. No other field makes a reply useless:
    ///   refusing the reply because of it would lose a refresh token that has been rotated. A missing expiry leads at
    ///   worst to a 401 and a refresh.
    init(reply body: Data, contentType: String?) throws(MalformedReply) {
        let fields = try ReplyFields(body, contentType: contentType)
        self.init(
            accessToken: try fields.requiredToken("access_token"),
            refreshToken: try? fields.token("refresh_token"),
            // Servers that leave the type out issue nothing else. Another type is kept as well, along with the refresh
            // token that may have been rotated for it, but a session sends only `Bearer`.
            tokenType: (try? fields.text("token_type")).flatMap { $0.isEmpty ? nil : $0 } ?? "Bearer",
            scope: fields.joinedTexts("scope").map(OAuthScope.init(parsing:)),
            lifetime: fields.seconds("expires_in"),
            fields: fields.texts(except: Self.ownFields)
        )
        try normalize()
    }

    /// Reads an answer by the rules of a session.
    ///
    /// - Throws: ``MalformedReply``.
    init(_ answer: HttpResponse<Data>, _ rules: OAuthRules) throws(MalformedReply) {
        do {
            self = try rules.reply(answer)
        } catch let error as MalformedReply {
            throw error
        } catch {
            // The error may quote the answer.
            throw MalformedReply("the rule for replies cannot read it")
        }
        try normalize()
    }

    /// The fields that are properties of a credential.
    private static let ownFields: Set<String> = ["access_token", "expires_in", "refresh_token", "scope", "token_type"]

    /// Checks the access token, and omits values that some servers send empty instead of omitting them.
    private mutating func normalize() throws(MalformedReply) {
        guard !accessToken.isEmpty else { throw MalformedReply("access_token is empty") }
        // The characters that RFC 6749 appendix A.12 allows, and that any header can carry.
        guard accessToken.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
            throw MalformedReply("access_token has characters that no token has")
        }
        if refreshToken?.isEmpty == true { refreshToken = nil }
        if scope?.isEmpty == true { scope = nil }
        if let lifetime, lifetime < .seconds(1) { self.lifetime = nil }
    }

    /// The credential that a reply makes. Values that the reply leaves out stay as they were, except for the lifetime.
    ///
    /// - Parameters:
    ///   - old: The credential that it replaces; nil for a sign-in.
    ///   - requested: The scope that was asked for; nil when none was named.
    ///   - now: When the reply arrived.
    func completed(
        replacing old: OAuthCredential? = nil,
        requested: OAuthScope? = nil,
        receivedAt now: Date
    ) -> OAuthCredential {
        var credential = self
        credential.refreshToken = refreshToken ?? old?.refreshToken
        credential.scope = scope ?? requested.flatMap { $0.isEmpty ? nil : $0 } ?? old?.scope
        credential.receivedAt = now
        credential.keepFields(of: old)
        return credential
    }

    /// Takes over the fields of an older credential that this one does not have itself.
    mutating func keepFields(of old: OAuthCredential?) {
        if let old { fields.merge(old.fields) { own, _ in own } }
    }
}
