/// The rules by which a server treats tokens.
struct ServerRules: Sendable {
    /// Whether each refresh token serves once, and a second use revokes all that came of the sign-in (RFC 9700 §4.14.2).
    var rotates = false
    /// Whether a new access token is the end of the one before. Otherwise all that were issued in the storm serve.
    var keepsOneAccessToken = false
    /// Whether any access token is accepted at all.
    var acceptsTokens = true
    /// Until when the token endpoint answers 503.
    var outage = Duration.zero
    /// Whether it says how long an access token serves, and the client knows that its own has expired.
    var tellsExpiry = false
    /// After how many requests of one storm it answers no more: a design that goes round in a circle is cut off.
    var requestLimit = 20_000
}
