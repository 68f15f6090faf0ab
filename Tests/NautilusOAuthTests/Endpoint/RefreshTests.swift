import Foundation
import Nautilus
import NautilusTesting
import Testing

@testable import NautilusOAuth

@Suite("TokenEndpoint, refresh")
struct RefreshTests {
    @Test("B19: what a refresh leaves out stays, but for the lifetime")
    func merge() async throws {
        let transport = ScriptedTransport(.json(["access_token": "new", "token_type": "bearer"]))
        let endpoint = TokenEndpoint(
            server: AuthorizationServer(issuer: "https://id.test", tokenEndpoint: "https://id.test/token"),
            client: OAuthClient(id: "app"),
            transport: transport
        )
        let old = OAuthCredential(
            accessToken: "old",
            refreshToken: "r1",
            scope: ["notes.read"],
            lifetime: .seconds(60)
        )
        let fresh = try await endpoint.refresh(old)
        #expect(fresh.accessToken == "new")
        #expect(fresh.refreshToken == "r1")
        #expect(fresh.scope == ["notes.read"])
        #expect(fresh.lifetime == nil)
        #expect(
            transport.attempts.first?.body
                == Data("grant_type=refresh_token&refresh_token=r1&client_id=app".utf8)
        )
    }
}
