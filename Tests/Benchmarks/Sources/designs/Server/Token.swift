/// The tokens that authorize calls, the same in all designs.
///
/// Public, as is the retrier that carries it, which is the examples' own, by a link.
public struct Token: Hashable, Sendable {
    /// The token that an API request carries.
    public let accessToken: String
    /// The token that the next refresh spends.
    let refreshToken: String
    /// When the access token expires, on the storm's clock; nil where the server does not say.
    let expiry: Duration?

    func hasExpired(at now: Duration) -> Bool {
        expiry.map { $0 <= now } ?? false
    }
}
