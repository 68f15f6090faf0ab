/// Issues and redeems authorization codes (RFC 6749 §4.1), each bound to a PKCE challenge (RFC 7636).
package struct CodeAuthority: Sendable {
    /// The authorization that a code stands for.
    package struct Authorization: Sendable {
        package let client: String
        package let redirectUri: String
        package let scope: DemoScope
        package let challenge: PkceChallenge

        package init(client: String, redirectUri: String, scope: DemoScope, challenge: PkceChallenge) {
            self.client = client
            self.redirectUri = redirectUri
            self.scope = scope
            self.challenge = challenge
        }
    }

    /// Why a code is not accepted. All are `invalid_grant` to the client.
    package enum Refusal: Error, Hashable, Sendable {
        case unknown
        case otherClient
        /// It has been redeemed before, for the family of this refresh token: its holder may be a thief
        /// (RFC 6749 §4.1.2).
        case redeemed(refreshToken: String)
        case expired
        case otherRedirectUri
        case wrongVerifier
    }

    private struct Record {
        let authorization: Authorization
        let expiry: Duration
        var refreshToken: String?
    }

    /// How long a code is good: the time of a redirect, not of a user.
    package static let lifetime = Duration.seconds(60)

    private let environment: String
    private var generator: SeededGenerator
    private var records: [String: Record] = [:]

    package init(environment: String, seed: UInt64 = 0) {
        self.environment = environment
        self.generator = SeededGenerator(seed: seed, stream: 0x636F_6465)
    }

    package mutating func issue(_ authorization: Authorization, at now: Duration) -> String {
        let code = "\(environment).code.\(records.count + 1).\(String(generator.next(), radix: 16))"
        records[code] = Record(authorization: authorization, expiry: now + Self.lifetime)
        return code
    }

    /// Checks a code; a refused one stays as it was, so that it cannot be spoilt for its owner.
    package func check(
        _ code: String,
        client: String,
        redirectUri: String,
        verifier: String,
        at now: Duration
    ) -> Result<Authorization, Refusal> {
        guard let record = records[code] else { return .failure(.unknown) }
        let authorization = record.authorization
        guard authorization.client == client else { return .failure(.otherClient) }
        if let refreshToken = record.refreshToken { return .failure(.redeemed(refreshToken: refreshToken)) }
        guard now < record.expiry else { return .failure(.expired) }
        guard authorization.redirectUri == redirectUri else { return .failure(.otherRedirectUri) }
        guard authorization.challenge.isMet(by: verifier) else { return .failure(.wrongVerifier) }
        return .success(authorization)
    }

    /// Notes what a code was redeemed for: it serves once.
    package mutating func redeem(_ code: String, for pair: TokenPair) {
        records[code]?.refreshToken = pair.refreshToken
    }
}

extension CodeAuthority: Redacted {}
extension CodeAuthority.Authorization: Redacted {}
extension CodeAuthority.Refusal: Redacted {}
