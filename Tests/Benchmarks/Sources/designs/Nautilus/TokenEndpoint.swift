import Nautilus

/// The service that hands out tokens, without the authorization that needs them.
struct TokenEndpoint {
    let world: World

    init(_ world: World) {
        self.world = world
    }
}
extension TokenEndpoint: HttpService {
    var apiUrl: any UrlConvertible { world.host }
    var transport: any HttpTransport { ServerTransport(server: world.server) }
    var clock: any Clock<Duration> { world.clock }

    /// Spends the refresh token and returns what follows it.
    ///
    /// - Throws: `RefreshError.Terminal` when the server says that the session is over; `HttpError` otherwise.
    func refresh(_ token: Token) async throws -> Token {
        do throws(HttpError) {
            let reply = try await RefreshToken(refreshToken: token.refreshToken).schedule(with: self)
            return Token(
                accessToken: reply.accessToken,
                refreshToken: reply.refreshToken,
                expiry: reply.expiresIn.map { world.now + .seconds($0) }
            )
        } catch {
            throw error.status == 400 ? RefreshError.Terminal("invalid_grant", underlying: error) : error
        }
    }
}
