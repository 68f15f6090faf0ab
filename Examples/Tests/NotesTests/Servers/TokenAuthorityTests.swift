import DemoServers
import Testing

@Suite("TokenAuthority", .timeLimit(.minutes(10)))
struct TokenAuthorityTests {
    @Test("an access token serves until its lifetime is over, and not a nanosecond longer")
    func expiry() {
        var authority = TokenAuthority(environment: "staging", lifetime: .seconds(10))
        let pair = authority.signIn(at: .seconds(5))
        #expect(authority.verify(pair.accessToken, at: .seconds(5)) == .valid)
        #expect(authority.verify(pair.accessToken, at: .seconds(15) - .nanoseconds(1)) == .valid)
        #expect(authority.verify(pair.accessToken, at: .seconds(15)) == .expired)
    }

    @Test("a lifetime of zero issues a token that is expired at once, with a good refresh token")
    func expired() throws {
        var authority = TokenAuthority(environment: "staging")
        let pair = authority.signIn(at: .zero, lifetime: .zero)
        #expect(authority.verify(pair.accessToken, at: .zero) == .expired)
        let next = try authority.rotate(pair.refreshToken, at: .zero).get()
        #expect(authority.verify(next.accessToken, at: .zero) == .valid)
    }

    @Test("a rotation issues a new pair and leaves the old access token to its time")
    func rotation() throws {
        var authority = TokenAuthority(environment: "staging")
        let first = authority.signIn(at: .zero)
        let second = try authority.rotate(first.refreshToken, at: .seconds(1)).get()
        let third = try authority.rotate(second.refreshToken, at: .seconds(2)).get()
        #expect(Set([first.accessToken, second.accessToken, third.accessToken]).count == 3)
        #expect(Set([first.refreshToken, second.refreshToken, third.refreshToken]).count == 3)
        #expect(authority.verify(first.accessToken, at: .seconds(2)) == .valid)
    }

    @Test("a refresh token that comes twice ends its family, and no other")
    func reuse() throws {
        var authority = TokenAuthority(environment: "staging")
        let stolen = authority.signIn(at: .zero)
        let other = authority.signIn(at: .zero)
        let next = try authority.rotate(stolen.refreshToken, at: .zero).get()
        #expect(authority.rotate(stolen.refreshToken, at: .zero) == .failure(.reused))
        #expect(authority.rotate(next.refreshToken, at: .zero) == .failure(.familyEnded))
        #expect(authority.verify(next.accessToken, at: .zero) == .revoked)
        #expect(authority.verify(other.accessToken, at: .zero) == .valid)
        #expect(throws: Never.self) { try authority.rotate(other.refreshToken, at: .zero).get() }
    }

    @Test("a revocation withdraws what was issued before it, and nothing after it")
    func revocation() throws {
        var authority = TokenAuthority(environment: "staging")
        let pair = authority.signIn(at: .zero)
        authority.revokeAccessTokens()
        #expect(authority.verify(pair.accessToken, at: .zero) == .revoked)
        let next = try authority.rotate(pair.refreshToken, at: .zero).get()
        #expect(authority.verify(next.accessToken, at: .zero) == .valid)
    }

    @Test("ended sessions cannot be refreshed")
    func ended() {
        var authority = TokenAuthority(environment: "staging")
        let pair = authority.signIn(at: .zero)
        authority.endAllFamilies()
        #expect(authority.rotate(pair.refreshToken, at: .zero) == .failure(.familyEnded))
        #expect(authority.verify(pair.accessToken, at: .zero) == .revoked)
    }

    @Test("tokens of one environment are unknown to another, though both were drawn from one seed")
    func environments() {
        var staging = TokenAuthority(environment: "staging", seed: 7)
        var production = TokenAuthority(environment: "production", seed: 7)
        let pair = staging.signIn(at: .zero)
        _ = production.signIn(at: .zero)
        #expect(production.verify(pair.accessToken, at: .zero) == .unknown)
        #expect(production.rotate(pair.refreshToken, at: .zero) == .failure(.unknown))
        #expect(staging.verify("garbage", at: .zero) == .unknown)
    }

    @Test("the same seed draws the same tokens, another seed others")
    func seed() {
        func draw(_ seed: UInt64) -> TokenPair {
            var authority = TokenAuthority(environment: "staging", seed: seed)
            return authority.signIn(at: .zero)
        }
        #expect(draw(1) == draw(1))
        #expect(draw(1) != draw(2))
    }

    @Test("a pair prints no token, whichever way it is printed")
    func redaction() {
        var authority = TokenAuthority(environment: "staging")
        let pair = authority.signIn(at: .zero)
        var dumped = ""
        dump(pair, to: &dumped)
        for text in ["\(pair)", String(reflecting: pair), dumped] {
            #expect(!text.contains(pair.accessToken) && !text.contains(pair.refreshToken))
        }
    }
}
