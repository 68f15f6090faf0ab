/// Issues and checks the tokens of one environment, with rotating refresh tokens (RFC 9700 §4.14.2).
///
/// A refresh token serves once. One that comes a second time was stolen, or its answer was lost; the authority cannot
/// tell which, so it ends the family: everything that descends from the same sign-in. A grace period takes the second
/// for granted, for as long as it lasts.
public struct TokenAuthority: Sendable {
    /// The verdict on an access token.
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

    /// Why a refresh token is not accepted. All but the last are `invalid_grant` to the client (RFC 6749 §5.2).
    public enum Refusal: Error, Hashable, Sendable {
        /// It was never issued here.
        case unknown
        /// It has been spent before; its family has ended with this.
        case reused
        /// Its family had ended before.
        case familyEnded
        /// It was issued to another client.
        case otherClient
        /// The client asks for more than the user granted; the token is not spent.
        case scopeExceeded
    }

    struct AccessRecord {
        /// Nil for a client's own token.
        let family: Int?
        let client: String
        let scope: DemoScope
        var expiry: Duration
        var isRevoked = false
    }

    struct RefreshRecord {
        let family: Int
        let client: String
        let scope: DemoScope
        /// The pair that it was spent for, and when; nil while it is good.
        var spent: (successor: TokenPair, at: Duration)?
    }

    /// How long the access tokens of the next pairs serve.
    public var lifetime: Duration
    /// How long a spent refresh token is answered with its successor again, as if the answer had been lost. Default:
    /// zero, never.
    public var gracePeriod: Duration = .zero
    /// Whether the revocation of a refresh token ends only this token, and does nothing once it is spent. Default:
    /// false, it ends the whole family.
    public var revokesOnlyNamed = false

    private let environment: String
    private var generator: SeededGenerator
    private var families = 0
    private var serial = 0
    var accessRecords: [String: AccessRecord] = [:]
    var refreshRecords: [String: RefreshRecord] = [:]
    var endedFamilies: Set<Int> = []
    /// The refresh tokens that were revoked without their families.
    var revokedAlone: Set<String> = []

    /// Creates an authority that has issued nothing.
    ///
    /// - Parameters:
    ///   - environment: Stands in every token, so that one on the wrong server is seen for what it is.
    ///   - lifetime: How long access tokens serve. Default: an hour, what most servers grant.
    ///   - seed: The seed that the tokens are drawn from.
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
    ///   - client: Whom the family belongs to. Default: ``DemoClient/app``.
    ///   - scope: The scope of the family. Default: everything.
    public mutating func signIn(
        at now: Duration,
        lifetime: Duration? = nil,
        client: String = DemoClient.app.id,
        scope: DemoScope = .all
    ) -> TokenPair {
        families += 1
        let record = RefreshRecord(family: families, client: client, scope: scope)
        return issue(record, scope: scope, at: now, lifetime: lifetime ?? self.lifetime)
    }

    /// Issues an access token to a client on its own behalf, without a refresh token (RFC 6749 §4.4.3).
    package mutating func issueAccessToken(client: String, scope: DemoScope, at now: Duration) -> AccessToken {
        serial += 1
        return issueAccessToken(family: nil, client: client, scope: scope, at: now, lifetime: lifetime)
    }

    /// Judges an access token.
    public func verify(_ accessToken: String, at now: Duration) -> Verdict {
        guard let record = accessRecords[accessToken] else { return .unknown }
        // An ended family takes its access tokens with it: the thief may hold them, too.
        if record.isRevoked || record.family.map(endedFamilies.contains) == true { return .revoked }
        return now < record.expiry ? .valid : .expired
    }

    /// The scope of an access token; nil for one that was never issued here.
    public func scope(of accessToken: String) -> DemoScope? {
        accessRecords[accessToken]?.scope
    }

    /// Whether a refresh token has served.
    public func isSpent(_ refreshToken: String) -> Bool {
        refreshRecords[refreshToken]?.spent != nil
    }

    /// Spends a refresh token and issues the family's next pair. Earlier access tokens serve until they expire.
    ///
    /// - Parameters:
    ///   - refreshToken: The token to spend. Within the grace period, a spent one yields the pair that it was spent for.
    ///   - now: The time.
    ///   - client: The client that spends it. Default: ``DemoClient/app``.
    ///   - scope: The scope of the access token; nil, the default, for all that the user granted. The
    ///     refresh token keeps the whole (RFC 6749 §6).
    public mutating func rotate(
        _ refreshToken: String,
        at now: Duration,
        client: String = DemoClient.app.id,
        scope: DemoScope? = nil
    ) -> Result<TokenPair, Refusal> {
        guard let record = refreshRecords[refreshToken] else { return .failure(.unknown) }
        // Before anything ends: what another client presents says nothing about this family's own.
        guard record.client == client else { return .failure(.otherClient) }
        guard !endedFamilies.contains(record.family), !revokedAlone.contains(refreshToken) else {
            return .failure(.familyEnded)
        }
        if let (successor, spentAt) = record.spent {
            if now - spentAt < gracePeriod { return .success(refreshed(successor, at: now)) }
            endedFamilies.insert(record.family)
            return .failure(.reused)
        }
        guard let scope = record.scope.narrowed(to: scope?.description) else { return .failure(.scopeExceeded) }
        let pair = issue(record, scope: scope, at: now, lifetime: lifetime)
        refreshRecords[refreshToken]?.spent = (pair, now)
        return .success(pair)
    }

    /// The same tokens, with the time that is left to them: the client counts from the receipt.
    private func refreshed(_ pair: TokenPair, at now: Duration) -> TokenPair {
        let expiry = accessRecords[pair.accessToken]?.expiry ?? now
        let token = AccessToken(value: pair.accessToken, lifetime: max(.zero, expiry - now), scope: pair.scope)
        return TokenPair(token, refreshToken: pair.refreshToken)
    }

    private mutating func issue(
        _ record: RefreshRecord,
        scope: DemoScope,
        at now: Duration,
        lifetime: Duration
    ) -> TokenPair {
        serial += 1
        let accessToken = issueAccessToken(
            family: record.family,
            client: record.client,
            scope: scope,
            at: now,
            lifetime: lifetime
        )
        let pair = TokenPair(accessToken, refreshToken: draw("refresh"))
        refreshRecords[pair.refreshToken] = RefreshRecord(
            family: record.family,
            client: record.client,
            scope: record.scope
        )
        return pair
    }

    private mutating func issueAccessToken(
        family: Int?,
        client: String,
        scope: DemoScope,
        at now: Duration,
        lifetime: Duration
    ) -> AccessToken {
        let token = AccessToken(value: draw("access"), lifetime: lifetime, scope: scope)
        accessRecords[token.value] = AccessRecord(family: family, client: client, scope: scope, expiry: now + lifetime)
        return token
    }

    private mutating func draw(_ kind: String) -> String {
        "\(environment).\(kind).\(serial).\(String(generator.next(), radix: 16))"
    }
}

extension TokenAuthority: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The environment; never the tokens.
    public var description: String { "TokenAuthority(\(environment))" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Shows the environment alone.
    public var customMirror: Mirror { Mirror(self, children: ["environment": environment]) }
}
