import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import Testing

@Suite("A server that repeats what it was sent")
struct EchoedSecretTests {
    @Test("a server that repeats a secret does not get it printed, in the form sent either")
    func asSent() async throws {
        let secret = "s3cret/+tok=en"
        let encoded = "s3cret%2F%2Btok%3Den"
        let pair = Data("app:\(encoded)".utf8).base64EncodedString()
        let client = OAuthClient(id: "app", authentication: .basic(secret: secret))
        for echoed in [secret, encoded, pair] {
            let transport = ScriptedTransport(.json(["error": "bad \(echoed)"], status: 400))
            let endpoint = EndpointFixture.endpoint(transport, client: client)
            let error = await EndpointFixture.error { () async throws(OAuthError) in
                try await endpoint.refresh(OAuthCredential(accessToken: "a", refreshToken: secret))
            }
            #expect(error?.kind == .misconfigured(code: "‹redacted›"))
            let printed = EndpointFixture.printed(error as Any)
            #expect(!printed.contains(echoed))
        }
    }
}
