import NautilusTesting

/// An API and its token endpoint, in virtual time.
///
/// It decides on a request when that arrives, and the answer takes its time to come back.
actor Server {
    /// The requests that it has received.
    struct Counts: Sendable {
        var apiRequests = 0
        var refreshes = 0
        var reusedRefreshTokens = 0
        /// Whether it was asked so often that it has stopped to answer.
        var isCutOff = false
    }

    /// The credential that everybody has to begin with: it is dead, and so is no other.
    nonisolated let firstToken: Token
    private(set) var counts = Counts()
    private let rules: ServerRules
    private let latencies: Latencies
    private let clock: ManualClock
    private var attempts: [Int: Int] = [:]
    /// The number of the latest access token. That of the first, which is dead, is 1.
    private var latestAccessToken = 1
    /// The number of the latest refresh token.
    private var latestRefreshToken = 1
    private var isRevoked = false

    init(_ rules: ServerRules, latencies: Latencies, clock: ManualClock) {
        self.rules = rules
        self.latencies = latencies
        self.clock = clock
        self.firstToken = Token(
            accessToken: "access-1",
            refreshToken: "refresh-1",
            expiry: rules.tellsExpiry ? .zero : nil
        )
    }

    /// Answers an API request.
    ///
    /// - Throws: ``Rejection``; `CancellationError` when the storm is over.
    func get(_ call: Int, accessToken: String?) async throws {
        attempts[call, default: 0] += 1
        counts.apiRequests += 1
        let latency = latencies.answer(to: call, attempt: attempts[call, default: 0])
        let arrival = Latencies.arrival(of: latency)
        try await travel(arrival)
        let isAccepted = accepts(accessToken)
        try await travel(latency - arrival)
        if !isAccepted { throw Rejection.unauthorized }
    }

    /// Turns a refresh token into the next credential.
    ///
    /// - Throws: ``Rejection``; `CancellationError` when the storm is over.
    func refresh(_ refreshToken: String) async throws -> Token {
        counts.refreshes += 1
        try await travel(Latencies.refresh / 2)
        let answer = Result { try spend(refreshToken) }
        try await travel(Latencies.refresh / 2)
        return try answer.get()
    }

    private func accepts(_ accessToken: String?) -> Bool {
        guard rules.acceptsTokens, !isRevoked else { return false }
        if rules.keepsOneAccessToken { return accessToken == "access-\(latestAccessToken)" && latestAccessToken > 1 }
        return accessToken.map { $0 != firstToken.accessToken } ?? false
    }

    private func spend(_ refreshToken: String) throws -> Token {
        if clock.now.offset < rules.outage { throw Rejection.unavailable }
        if rules.rotates, refreshToken != "refresh-\(latestRefreshToken)" {
            // Somebody has a token that was spent: the rightful client, or a thief. It cannot tell which.
            counts.reusedRefreshTokens += 1
            isRevoked = true
        }
        if isRevoked { throw Rejection.invalidGrant }
        if rules.rotates { latestRefreshToken += 1 }
        latestAccessToken += 1
        return Token(
            accessToken: "access-\(latestAccessToken)",
            refreshToken: "refresh-\(latestRefreshToken)",
            expiry: rules.tellsExpiry ? clock.now.offset + .seconds(3600) : nil
        )
    }

    private func travel(_ time: Duration) async throws {
        if counts.apiRequests + counts.refreshes > rules.requestLimit { counts.isCutOff = true }
        // Longer than the storm: the caller is told of its end only.
        try await clock.sleep(for: counts.isCutOff ? .seconds(1_000_000) : time)
    }
}
