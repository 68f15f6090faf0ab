/// The server's answer in place of the requested one.
struct Rejection: Error {
    let status: Int

    /// The access token is not one that serves.
    static let unauthorized = Rejection(status: 401)
    /// The refresh token is not one that serves: `invalid_grant` (RFC 6749 §5.2).
    static let invalidGrant = Rejection(status: 400)
    /// The token endpoint is out of order.
    static let unavailable = Rejection(status: 503)
}

extension Error {
    /// Whether it is the 401 that another token may mend.
    var isUnauthorized: Bool { (self as? Rejection)?.status == 401 }
}
