import Foundation
import Nautilus

/// The reply of a token endpoint that has issued a token (RFC 6749 §5.1).
struct TokenReply: Sendable {
    let accessToken: String
    /// Nil when there is none: then the one that was spent stays good (§6).
    let refreshToken: String?
    /// As the server writes it; `Bearer` when it does not, since servers that leave it out issue nothing else. One that
    /// is not some spelling of `Bearer` is kept as well, with the refresh token that may have been rotated for it; a
    /// session stamps none but `Bearer`.
    let tokenType: String
    /// Nil when the server does not say, or nothing that can be read: then it is the scope that was asked for.
    let scope: OAuthScope?
    /// Nil when the server does not say, or names less than a second.
    ///
    /// To refuse the reply because of it would lose a refresh token that has been rotated; without an expiry, the worst
    /// that follows is a 401 and a refresh.
    let lifetime: Duration?

    /// Reads a reply.
    ///
    /// - Throws: ``MalformedReply``.
    init(_ body: Data, contentType: String?) throws(MalformedReply) {
        let fields = try ReplyFields(body, contentType: contentType)
        accessToken = try fields.requiredText("access_token")
        // The characters that RFC 6749 appendix A.12 allows, and any header can carry.
        guard accessToken.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
            throw MalformedReply("access_token has characters that no token has")
        }
        tokenType = try fields.text("token_type").flatMap { $0.isEmpty ? nil : $0 } ?? "Bearer"
        // Some servers send an empty text in place of nothing.
        refreshToken = try fields.text("refresh_token").flatMap { $0.isEmpty ? nil : $0 }
        let scope = fields.joinedTexts("scope").map(OAuthScope.init(parsing:))
        self.scope = scope?.isEmpty == true ? nil : scope
        lifetime = fields.seconds("expires_in")
    }

    /// The credential that it makes (B19): values that the reply leaves out stay as they were, but for the lifetime.
    ///
    /// - Parameters:
    ///   - old: The credential it replaces; nil for a sign-in.
    ///   - requested: The scope that was asked for; nil when none was named.
    ///   - now: When the reply came.
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
            receivedAt: now
        )
    }
}

extension TokenReply: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Never a token.
    var description: String { "TokenReply(\(tokenType))" }
    /// The same as ``description``.
    var debugDescription: String { description }
    /// Shows what ``description`` shows.
    var customMirror: Mirror { Mirror(self, children: ["reply": description]) }
}
