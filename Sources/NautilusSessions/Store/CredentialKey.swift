/// The key of a credential in a store that holds several: its account, its client, its issuer.
///
/// Refreshing one never waits for another.
public struct CredentialKey: Hashable, Sendable, Codable {
    /// The issuer: the authorization server's issuer URL, or the API's origin. Staging and production differ here.
    public let issuer: String
    /// The client it was issued to, by `client_id`. Empty where clients have no names.
    public let client: String
    /// The account, in the app's words: a user's name or number. Empty where there is only one.
    public let account: String

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - issuer: The authorization server's issuer URL, or the API's origin.
    ///   - client: The `client_id`. Default: empty, for a server that does not tell clients apart.
    ///   - account: The account. Default: empty, for an app with one account at a time.
    public init(issuer: String, client: String = "", account: String = "") {
        self.issuer = issuer
        self.client = client
        self.account = account
    }
}
