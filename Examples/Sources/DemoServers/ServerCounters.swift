/// The counts of what a demo server saw: exact, not sampled.
public struct ServerCounters: Hashable, Sendable {
    /// Requests for notes that arrived, refreshes not included.
    public internal(set) var requests = 0
    /// Answers to them, by status.
    public internal(set) var answers: [Int: Int] = [:]
    /// Requests for notes that the limit took, or would have taken: all of them where there is none.
    public var admitted: Int { requests - limited }
    /// Requests for notes that the limit refused.
    public internal(set) var limited = 0
    /// Connections closed without an answer.
    public internal(set) var dropped = 0
    /// Requests for notes whose token was not accepted.
    public internal(set) var unauthorized = 0
    /// Unauthorized requests whose token was never issued here: another environment's, above all.
    public internal(set) var unknownTokens = 0
    /// Requests at the token endpoint by grant, whatever the answer, once the client is known and may use the grant.
    public internal(set) var tokenRequests: [DemoGrant: Int] = [:]
    /// Requests at the token endpoint that were dropped on order, before anything was done.
    public internal(set) var tokenRequestsDropped = 0
    /// Requests at the token endpoint that failed on order, without anything being done.
    public internal(set) var tokenRequestsFailed = 0
    /// Requests at the token endpoint whose answer was lost on order, after everything was done.
    public internal(set) var answersLost = 0
    /// Requests at the token endpoint to refresh, whatever the answer.
    public internal(set) var refreshes = 0
    /// Refresh tokens that came a second time, and ended their family.
    public internal(set) var reuseDetected = 0
    /// Refresh tokens that came again within the grace period, and got the same answer.
    public internal(set) var graceReuses = 0
    /// Authorization codes redeemed.
    public internal(set) var codesExchanged = 0
    /// Devices that began to wait for their user.
    public internal(set) var deviceAuthorizations = 0
    /// Times a device asked whether its user has decided, whatever the answer.
    public internal(set) var devicePolls = 0
    /// Device polls that came too soon.
    public internal(set) var slowDowns = 0
    /// Tokens withdrawn at the revocation endpoint; a refresh token counts once, with its family.
    public internal(set) var tokensRevoked = 0
    /// Requests whose client was unknown, or did not prove itself.
    public internal(set) var invalidClients = 0
    /// Notes created.
    public internal(set) var notesCreated = 0
    /// Requests to create that repeated an `Idempotency-Key`, and created nothing.
    public internal(set) var creationsRepeated = 0
    /// Times all access tokens were withdrawn.
    public internal(set) var revocations = 0
    /// The most requests for notes that were in the server at once.
    public internal(set) var maxConcurrent = 0
    /// Requests for notes that are in the server now.
    public internal(set) var concurrent = 0

    /// Creates counters of a server that has seen nothing.
    package init() {}

    mutating func arrive() {
        requests += 1
        concurrent += 1
        maxConcurrent = max(maxConcurrent, concurrent)
    }

    /// - Parameter status: Nil for a connection closed without an answer.
    mutating func leave(status: Int?) {
        concurrent -= 1
        guard let status else {
            dropped += 1
            return
        }
        answers[status, default: 0] += 1
    }
}
