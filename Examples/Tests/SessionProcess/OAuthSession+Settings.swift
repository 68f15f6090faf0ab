import Foundation
import Nautilus
import NautilusOAuth
import SessionCommands

extension OAuthSession {
    /// A session with a demo server, without the pauses that would only take time.
    convenience init(_ settings: SessionSettings, store: FileStore, transport: any HttpTransport) {
        self.init(
            endpoint: TokenEndpoint(
                server: AuthorizationServer(
                    issuer: settings.origin,
                    tokenEndpoint: settings.origin + "/oauth/token",
                    revocationEndpoint: settings.origin + "/oauth/revoke"
                ),
                client: OAuthClient(id: SessionSettings.client),
                transport: transport,
                retrierFactory: NilRetrier.factory()
            ),
            store: store,
            account: settings.account,
            sharing: CredentialSharing(lockWait: settings.lockWait, backoff: .constant(settings.pause))
        )
    }
}

extension OAuthCredential {
    init(_ tokens: SessionTokens) {
        self.init(accessToken: tokens.accessToken, refreshToken: tokens.refreshToken, lifetime: tokens.lifetime)
    }
}
