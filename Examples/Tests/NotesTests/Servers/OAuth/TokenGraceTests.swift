import DemoServers
import Testing

@Suite("TokenAuthority: grace period, scope, client", .timeLimit(.minutes(10)))
struct TokenGraceTests {
    @Test("a spent refresh token yields the same successor until the grace period is over, not a nanosecond longer")
    func boundary() throws {
        var authority = TokenAuthority(environment: "staging", lifetime: .seconds(100))
        authority.gracePeriod = .seconds(10)
        let first = authority.signIn(at: .zero)
        let second = try authority.rotate(first.refreshToken, at: .seconds(5)).get()
        #expect(authority.rotate(first.refreshToken, at: .seconds(5)) == .success(second))
        let late = try authority.rotate(first.refreshToken, at: .seconds(15) - .nanoseconds(1)).get()
        #expect(late.accessToken == second.accessToken)
        #expect(late.refreshToken == second.refreshToken)
        // The rest of its hundred seconds: the client counts from the receipt.
        #expect(late.lifetime == .seconds(90) + .nanoseconds(1))
        #expect(authority.rotate(first.refreshToken, at: .seconds(15)) == .failure(.reused))
        #expect(authority.rotate(second.refreshToken, at: .seconds(15)) == .failure(.familyEnded))
    }

    @Test("a repeated answer does not spend its refresh token, and does not lengthen the grace")
    func repeated() throws {
        var authority = TokenAuthority(environment: "staging")
        authority.gracePeriod = .seconds(10)
        let first = authority.signIn(at: .zero)
        let second = try authority.rotate(first.refreshToken, at: .zero).get()
        _ = try authority.rotate(first.refreshToken, at: .seconds(9)).get()
        #expect(!authority.isSpent(second.refreshToken))
        #expect(authority.rotate(first.refreshToken, at: .seconds(10)) == .failure(.reused))
    }

    @Test("a grace period that ends while a token is spent leaves no grace to it")
    func changed() throws {
        var authority = TokenAuthority(environment: "staging")
        authority.gracePeriod = .seconds(10)
        let first = authority.signIn(at: .zero)
        _ = try authority.rotate(first.refreshToken, at: .zero).get()
        authority.gracePeriod = .zero
        #expect(authority.rotate(first.refreshToken, at: .zero) == .failure(.reused))
    }

    @Test("a refresh may ask for less; the next one may have the whole again, and never more")
    func scopes() throws {
        var authority = TokenAuthority(environment: "staging")
        let all = authority.signIn(at: .zero)
        let less = try authority.rotate(all.refreshToken, at: .zero, scope: DemoScope("notes.read")).get()
        #expect(authority.scope(of: less.accessToken) == DemoScope("notes.read"))
        let again = try authority.rotate(less.refreshToken, at: .zero).get()
        #expect(authority.scope(of: again.accessToken) == .all)

        let reader = authority.signIn(at: .zero, scope: DemoScope("notes.read"))
        #expect(authority.rotate(reader.refreshToken, at: .zero, scope: .all) == .failure(.scopeExceeded))
        #expect(!authority.isSpent(reader.refreshToken))
        let next = try authority.rotate(reader.refreshToken, at: .zero).get()
        #expect(next.scope == DemoScope("notes.read"))
    }

    @Test("another client's attempt neither spends a token nor ends its family")
    func clients() throws {
        var authority = TokenAuthority(environment: "staging")
        let first = authority.signIn(at: .zero)
        #expect(authority.rotate(first.refreshToken, at: .zero, client: "thief") == .failure(.otherClient))
        let second = try authority.rotate(first.refreshToken, at: .zero).get()
        #expect(authority.rotate(first.refreshToken, at: .zero, client: "thief") == .failure(.otherClient))
        #expect(throws: Never.self) { try authority.rotate(second.refreshToken, at: .zero).get() }
    }

    @Test("access tokens issued so far expire at once, later ones in their time")
    func expiry() throws {
        var authority = TokenAuthority(environment: "staging", lifetime: .seconds(10))
        let first = authority.signIn(at: .zero)
        authority.expireAccessTokens(at: .seconds(1))
        #expect(authority.verify(first.accessToken, at: .seconds(1)) == .expired)
        authority.lifetime = .seconds(20)
        let second = try authority.rotate(first.refreshToken, at: .seconds(1)).get()
        #expect(second.lifetime == .seconds(20))
        #expect(authority.verify(second.accessToken, at: .seconds(21) - .nanoseconds(1)) == .valid)
        #expect(authority.verify(second.accessToken, at: .seconds(21)) == .expired)
    }

    @Test("a token that has expired already does not live longer for being expired again")
    func expiredTwice() {
        var authority = TokenAuthority(environment: "staging", lifetime: .seconds(10))
        let pair = authority.signIn(at: .zero)
        authority.expireAccessTokens(at: .seconds(20))
        #expect(authority.verify(pair.accessToken, at: .seconds(10)) == .expired)
    }

    @Test("an authority prints no token, whichever way it is printed")
    func redaction() {
        var authority = TokenAuthority(environment: "staging")
        let pair = authority.signIn(at: .zero)
        var dumped = ""
        dump(authority, to: &dumped)
        for text in ["\(authority)", String(reflecting: authority), dumped] {
            #expect(!text.contains(pair.accessToken) && !text.contains(pair.refreshToken))
        }
    }
}
