/// The circumstances of a thousand calls.
struct Scenario: Sendable {
    /// One word, for machines.
    let name: String
    /// Its title, for people.
    let title: String
    /// The calls begin within this time.
    var span = Duration.milliseconds(250)
    var rules = ServerRules()
    /// Whether nothing but one refresh and a thousand good answers will do.
    var mustBeFlawless = true

    static let callCount = 1000

    static let all = [
        Scenario(name: "late", title: "All calls carry a dead token, and hear of it at different times"),
        Scenario(
            name: "rotating",
            title: "The same where a refresh token serves once, and its second use ends the session",
            rules: ServerRules(rotates: true)
        ),
        Scenario(
            name: "single",
            title: "The same where a new access token is the end of the one before",
            rules: ServerRules(keepsOneAccessToken: true)
        ),
        Scenario(
            name: "expired",
            title: "The client knows that its token has expired before the first call begins",
            rules: ServerRules(tellsExpiry: true)
        ),
        Scenario(
            name: "outage",
            title: "Calls begin over 20 s, for the first ten of which the token endpoint answers 503",
            span: .seconds(20),
            rules: ServerRules(outage: .seconds(10)),
            mustBeFlawless: false
        ),
        Scenario(
            name: "rejected",
            title: "The server rejects every token, fresh ones, too; it answers 20000 requests and no more",
            rules: ServerRules(acceptsTokens: false),
            mustBeFlawless: false
        ),
    ]
}
