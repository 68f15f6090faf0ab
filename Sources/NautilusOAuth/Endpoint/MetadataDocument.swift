import Foundation

/// The document of an issuer that ``AuthorizationServer/discover(issuer:document:transport:retrierFactory:clock:)``
/// reads.
public enum MetadataDocument: Hashable, Sendable {
    /// RFC 8414: `https://id.example.com/.well-known/oauth-authorization-server/tenant`.
    case oauth
    /// OpenID Connect Discovery §4: `https://id.example.com/tenant/.well-known/openid-configuration`. The fields that
    /// are read are the same; some servers have this one only.
    case openId

    /// The document's URL.
    ///
    /// - Throws: ``OAuthError/Kind/insecureUrl``, ``OAuthError/Kind/invalidParameter(reason:)``.
    func url(of issuer: String) throws(OAuthError) -> EndpointUrl {
        guard !issuer.utf8.contains(UInt8(ascii: "?")), let slashes = issuer.range(of: "://") else {
            // §2 of the RFC.
            throw OAuthError(.invalidParameter(reason: "issuer: it is no absolute URL without a query"))
        }
        _ = try EndpointUrl(issuer, name: "issuer")
        // A slash at the end is not part of it (§3.1).
        let issuer = issuer.utf8.last == UInt8(ascii: "/") ? issuer.dropLast() : issuer[...]
        let end = issuer.utf8[slashes.upperBound...].firstIndex(of: UInt8(ascii: "/")) ?? issuer.endIndex
        let text =
            switch self {
            case .oauth: "\(issuer[..<end])/.well-known/oauth-authorization-server\(issuer[end...])"
            case .openId: "\(issuer)/.well-known/openid-configuration"
            }
        return try EndpointUrl(text, name: "issuer")
    }
}
