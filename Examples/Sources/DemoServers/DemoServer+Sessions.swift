extension DemoServer {
    /// Signs a user in: the first tokens of a family, issued to ``DemoClient/app``.
    ///
    /// - Parameter scope: The scope of the tokens. Default: everything.
    public func signIn(scope: DemoScope = .all) async -> TokenPair {
        await backend.access { $0.tokens.signIn(at: $1, scope: scope) }
    }

    /// Signs a user in whose access token is already expired; the refresh token is good.
    public func signInExpired() async -> TokenPair {
        await backend.access { $0.tokens.signIn(at: $1, lifetime: .zero) }
    }

    /// Withdraws every access token; refresh tokens stay good.
    public func revokeAccessTokens() async {
        await backend.revokeAccessTokens()
    }

    /// Ends the time of every access token issued so far; refresh tokens stay good.
    public func expireAccessTokens() async {
        await backend.access { $0.tokens.expireAccessTokens(at: $1) }
    }

    /// Ends every session: refresh tokens are answered with `invalid_grant`.
    public func endSessions() async {
        await backend.access { server, _ in server.tokens.endAllFamilies() }
    }

    /// The refresh tokens with which a client could get new tokens.
    public var liveRefreshTokens: Set<String> {
        get async { await backend.access { server, _ in server.tokens.liveRefreshTokens } }
    }

    /// Sets whether a revocation ends only the very token that is named, and nothing when that one is spent.
    public func setRevokesOnlyNamed(_ revokesOnlyNamed: Bool) async {
        await backend.access { server, _ in server.tokens.revokesOnlyNamed = revokesOnlyNamed }
    }

    /// How long the access tokens issued from now on serve.
    public func setAccessTokenLifetime(_ lifetime: Duration) async {
        await backend.access { server, _ in server.tokens.lifetime = lifetime }
    }

    /// How long a spent refresh token is answered with its successor again.
    public var gracePeriod: Duration {
        get async { await backend.access { server, _ in server.tokens.gracePeriod } }
    }

    /// Changes ``gracePeriod``, for tokens already spent, too.
    public func setGracePeriod(_ gracePeriod: Duration) async {
        await backend.access { server, _ in server.tokens.gracePeriod = gracePeriod }
    }

    /// Moves the server's time forward, so that no test waits for a code or a token to expire.
    public func advanceTime(by duration: Duration) async {
        await backend.advanceTime(by: duration)
    }
}
