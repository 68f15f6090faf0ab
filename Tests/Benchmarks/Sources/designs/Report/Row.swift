/// The result of one design in one scenario.
struct Row: Sendable, Encodable {
    let scenario: String
    let design: String
    let calls: Int
    let succeeded: Int
    let failed: Int
    /// Calls whose end was not reported: a callback was lost, or the storm was cut off before.
    let neverAnswered: Int
    /// Requests at the token endpoint.
    let refreshes: Int
    /// How often a refresh token was presented that had been spent.
    let reusedRefreshTokens: Int
    let apiRequests: Int
    /// When the last call ended, in milliseconds since the first could begin.
    let lastEndMilliseconds: Int64
    /// Whether it went on until the server answered no more.
    let isCutOff: Bool

    init(_ scenario: String, _ design: String, _ ledger: Ledger.Entries, _ server: Server.Counts) {
        self.scenario = scenario
        self.design = design
        self.calls = Scenario.callCount
        self.succeeded = ledger.succeeded
        self.failed = ledger.failed
        self.neverAnswered = Scenario.callCount - ledger.ended
        self.refreshes = server.refreshes
        self.reusedRefreshTokens = server.reusedRefreshTokens
        self.apiRequests = server.apiRequests
        self.lastEndMilliseconds = Int64(ledger.lastEnd / .milliseconds(1))
        self.isCutOff = server.isCutOff
    }

    private enum CodingKeys: String, CodingKey {
        case scenario, design, calls, succeeded, failed, refreshes
        case neverAnswered = "never_answered"
        case reusedRefreshTokens = "reused_refresh_tokens"
        case apiRequests = "api_requests"
        case lastEndMilliseconds = "last_end_ms"
        case isCutOff = "cut_off"
    }

    /// One refresh, nothing lost, nothing spent twice.
    var isFlawless: Bool {
        succeeded == calls && refreshes == 1 && reusedRefreshTokens == 0
    }

    /// Whether no figure is worse than the other's. How long it took is not compared: a second more or less is luck.
    func isAsGood(as other: Row) -> Bool {
        succeeded >= other.succeeded && neverAnswered <= other.neverAnswered && refreshes <= other.refreshes
            && reusedRefreshTokens <= other.reusedRefreshTokens && apiRequests <= other.apiRequests
    }
}
