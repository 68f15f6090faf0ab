/// The grant that a token is requested with: the `grant_type` of a token request.
public enum DemoGrant: String, CaseIterable, Hashable, Sendable {
    /// A code that came back with the user (RFC 6749 §4.1).
    case authorizationCode = "authorization_code"
    /// The client's own credentials, without a user (RFC 6749 §4.4).
    case clientCredentials = "client_credentials"
    /// A code that the user approves on another device (RFC 8628).
    case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
    /// The refresh token of an earlier answer (RFC 6749 §6).
    case refreshToken = "refresh_token"
}
