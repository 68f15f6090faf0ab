import NautilusOAuth
import NotesAPI

extension NotesEnvironment {
    /// Where tokens of this environment are refreshed and revoked: all that a signed-in run needs.
    ///
    /// Declared and not discovered, so that a run of a command-line tool costs no request but its own. Signing in is
    /// rare, and asks the server for the rest: ``OAuthNotesService/signIn(scope:showing:)``.
    public var authorizationServer: AuthorizationServer {
        AuthorizationServer(
            issuer: origin,
            tokenEndpoint: origin + "/oauth/token",
            revocationEndpoint: origin + "/oauth/revoke"
        )
    }
}
