/// What authorizes calls, in all designs the same.
///
/// Public as the retrier is that carries it, which is the examples' own, by a link.
public struct Token: Hashable, Sendable {
    /// What an API request carries.
    public let accessToken: String
    /// What the next refresh is paid with.
    let refreshToken: String
    /// When the access token expires, on the storm's clock; nil where the server does not say.
    let expiry: Duration?

    func hasExpired(at now: Duration) -> Bool {
        expiry.map { $0 <= now } ?? false
    }
}
