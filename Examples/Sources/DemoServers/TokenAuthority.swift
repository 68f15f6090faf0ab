/// Issues and checks the tokens of one environment, with rotating refresh tokens (RFC 9700 §4.14.2).
///
/// A refresh token serves once. One that comes a second time was stolen, or its answer was lost; the authority cannot
/// tell which, so it ends the family: everything that descends from the same sign-in.
public struct TokenAuthority: Sendable {
    /// What is to be said of an access token.
    public enum Verdict: Hashable, Sendable {
        /// It authorizes.
        case valid
        /// Its time is over.
        case expired
        /// It was withdrawn before its time.
        case revoked
        /// It was never issued here: garbage, or another environment's.
        case unknown
    }

    /// Why a refresh token is not accepted. All of them are `invalid_grant` to the client (RFC 6749 §5.2).
    public enum Refusal: Error, Hashable, Sendable {
        /// It was never issued here.
        case unknown
        /// It has been spent before; its family has ended with this.
        case reused
        /// Its family had ended before.
        case familyEnded
    }

    private struct AccessRecord {
        let family: Int
        let expiry: Duration
        var isRevoked = false
    }

    private struct RefreshRecord {
        let family: Int
        var isSpent = false
    }

    private let environment: String
    private let lifetime: Duration
    private var generator: SeededGenerator
    private var accessRecords: [String: AccessRecord] = [:]
    private var refreshRecords: [String: RefreshRecord] = [:]
    private var endedFamilies: Set<Int> = []
    private var families = 0
    private var serial = 0

    /// Creates an authority that has issued nothing.
    ///
    /// - Parameters:
    ///   - environment: Stands in every token, so that one on the wrong server is seen for what it is.
    ///   - lifetime: How long access tokens serve. Default: an hour, what most servers grant.
    ///   - seed: What the tokens are drawn from.
    public init(environment: String, lifetime: Duration = .seconds(3600), seed: UInt64 = 0) {
        self.environment = environment
        self.lifetime = lifetime
        self.generator = SeededGenerator(seed: seed, stream: 0x746F_6B65_6E)
    }

    /// Issues the first pair of a new family.
    ///
    /// - Parameters:
    ///   - now: The time, on the caller's own scale; all calls use the same.
    ///   - lifetime: How long the access token serves; nil for the authority's own. Zero issues an expired one.
    public mutating func signIn(at now: Duration, lifetime: Duration? = nil) -> TokenPair {
        families += 1
        return issue(family: families, at: now, lifetime: lifetime ?? self.lifetime)
    }

    /// Judges an access token.
    public func verify(_ accessToken: String, at now: Duration) -> Verdict {
        guard let record = accessRecords[accessToken] else { return .unknown }
        // An ended family takes its access tokens with it: the thief may hold them, too.
        if record.isRevoked || endedFamilies.contains(record.family) { return .revoked }
        return now < record.expiry ? .valid : .expired
    }

    /// Spends a refresh token and issues the family's next pair. Earlier access tokens serve until they expire.
    public mutating func rotate(_ refreshToken: String, at now: Duration) -> Result<TokenPair, Refusal> {
        guard let record = refreshRecords[refreshToken] else { return .failure(.unknown) }
        guard !endedFamilies.contains(record.family) else { return .failure(.familyEnded) }
        guard !record.isSpent else {
            endedFamilies.insert(record.family)
            return .failure(.reused)
        }
        refreshRecords[refreshToken]?.isSpent = true
        return .success(issue(family: record.family, at: now, lifetime: lifetime))
    }

    /// Withdraws every access token issued so far; refresh tokens stay good.
    public mutating func revokeAccessTokens() {
        for token in accessRecords.keys { accessRecords[token]?.isRevoked = true }
    }

    /// Ends every family: refresh tokens are worthless, too.
    public mutating func endAllFamilies() {
        endedFamilies.formUnion(refreshRecords.values.map(\.family))
    }

    private mutating func issue(family: Int, at now: Duration, lifetime: Duration) -> TokenPair {
        serial += 1
        let pair = TokenPair(accessToken: draw("access"), refreshToken: draw("refresh"), lifetime: lifetime)
        accessRecords[pair.accessToken] = AccessRecord(family: family, expiry: now + lifetime)
        refreshRecords[pair.refreshToken] = RefreshRecord(family: family)
        return pair
    }

    private mutating func draw(_ kind: String) -> String {
        "\(environment).\(kind).\(serial).\(String(generator.next(), radix: 16))"
    }
}
