import Nautilus

/// The service that hands out tokens: the same server, without the authorization that needs them.
struct TokenEndpoint {
    let environment: NotesEnvironment
    let budget: RetryBudgetScope
    let transport: any HttpTransport
    let clock: any Clock<Duration>
}
extension TokenEndpoint: HttpService {
    var apiUrl: any UrlConvertible { environment.origin }
    // A refresh has no idempotency key, so it is repeated only where the server cannot have spent the token.
    var retrierFactory: any RetrierFactory { BackoffRetrier.factory(.standard.with { $0.budget = budget }) }

    /// Spends the refresh token and returns the pair that follows it.
    ///
    /// - Throws: `RefreshError.Terminal` when the server says that the session is over; `HttpError` otherwise.
    func refresh(_ token: Token) async throws -> Token {
        let reply = try await reply(to: RefreshToken(refreshToken: token.refreshToken))
        return Token(
            accessToken: reply.accessToken,
            // A server that does not rotate leaves it out: the old one stays good (RFC 6749 §6).
            refreshToken: reply.refreshToken ?? token.refreshToken,
            lifetime: reply.expiresIn.map { .seconds($0) },
            environment: environment
        )
    }

    private func reply(to request: RefreshToken) async throws -> RefreshToken.Result {
        do throws(HttpError) {
            return try await request.schedule(with: self)
        } catch {
            throw error.isInvalidGrant ? RefreshError.Terminal("invalid_grant", underlying: error) : error
        }
    }
}
