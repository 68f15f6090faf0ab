import Foundation
import Nautilus
import NautilusOAuth
import SessionCommands

extension OAuthSession {
    /// A session with a demo server. On a slow machine nothing runs out of time, which no test is about, but the wait
    /// for the lock, and nothing is sent again, but what the session itself sends.
    ///
    /// A call waits for one cool-down, a short one: with the usual ones each call that is to fail would take ten seconds.
    convenience init(_ settings: SessionSettings, store: FileStore, transport: any HttpTransport) {
        let pause = Backoff.constant(settings.pause, jitter: .none)
        self.init(
            endpoint: TokenEndpoint(
                server: AuthorizationServer(
                    issuer: settings.origin,
                    tokenEndpoint: settings.origin + "/oauth/token",
                    revocationEndpoint: settings.origin + "/oauth/revoke"
                ),
                client: OAuthClient(id: SessionSettings.client),
                transport: transport,
                retrierFactory: .never,
                signInTimeout: .seconds(3600),
                refreshTimeout: .seconds(3600),
                deadline: .seconds(3600)
            ),
            store: store,
            account: settings.account,
            sharing: CredentialSharing(lockWait: settings.lockWait, backoff: pause),
            limits: RefreshLimits(timeLimit: .seconds(3600), coolDown: pause, maxCoolDowns: 1)
        )
    }
}

extension OAuthCredential {
    init(_ tokens: SessionTokens) {
        self.init(accessToken: tokens.accessToken, refreshToken: tokens.refreshToken, lifetime: tokens.lifetime)
    }
}
