import DemoServers
import Foundation
import Testing

@Suite("RevocationRoute and ServerMetadata", .timeLimit(.minutes(10)))
struct RevocationRouteTests {
    @Test("a refresh token that is revoked takes its family along, and no other", arguments: [false, true])
    func refreshToken(isSpent: Bool) throws {
        let bench = OAuthBench()
        let first = bench.server.tokens.signIn(at: .zero)
        let other = bench.server.tokens.signIn(at: .zero)
        let second = try bench.server.tokens.rotate(first.refreshToken, at: .zero).get()
        let answer = bench.post(.revoke, ["token": isSpent ? first.refreshToken : second.refreshToken])
        #expect(answer?.status == 200)
        #expect(answer?.body == Data())
        #expect(bench.server.tokens.verify(second.accessToken, at: .zero) == .revoked)
        #expect(bench.refresh(second.refreshToken)?.reply.error == "invalid_grant")
        #expect(bench.server.tokens.verify(other.accessToken, at: .zero) == .valid)
        #expect(bench.counters.tokensRevoked == 1)
        #expect(bench.counters.reuseDetected == 0)
    }

    @Test("an access token that is revoked goes alone, whatever the hint says", arguments: ["", "refresh_token", "?"])
    func accessToken(hint: String) throws {
        let bench = OAuthBench()
        let first = bench.server.tokens.signIn(at: .zero)
        let second = try bench.server.tokens.rotate(first.refreshToken, at: .zero).get()
        #expect(bench.post(.revoke, ["token": first.accessToken, "token_type_hint": hint])?.status == 200)
        #expect(bench.server.tokens.verify(first.accessToken, at: .zero) == .revoked)
        #expect(bench.server.tokens.verify(second.accessToken, at: .zero) == .valid)
        #expect(bench.refresh(second.refreshToken)?.status == 200)
        #expect(bench.counters.tokensRevoked == 1)
    }

    @Test("revoking a token that is worthless already gets the same answer, and counts for nothing")
    func worthless() {
        let bench = OAuthBench()
        let pair = bench.server.tokens.signIn(at: .zero)
        for token in [pair.accessToken, pair.accessToken, pair.refreshToken, pair.refreshToken, "garbage"] {
            #expect(bench.post(.revoke, ["token": token])?.status == 200)
        }
        #expect(bench.counters.tokensRevoked == 2)
    }

    @Test("a token of another client stays good, and so does one that was not named")
    func refusals() {
        let bench = OAuthBench()
        let pair = bench.server.tokens.signIn(at: .zero)
        for token in [pair.refreshToken, pair.accessToken] {
            let answer = bench.post(.revoke, ["token": token, "client_id": "pretender"])
            #expect(answer?.status == 400)
            #expect(answer?.reply.error == "invalid_grant")
        }
        #expect(bench.post(.revoke, ["token": ""])?.reply.error == "invalid_request")
        #expect(bench.server.tokens.verify(pair.accessToken, at: .zero) == .valid)
        #expect(bench.refresh(pair.refreshToken)?.status == 200)
        #expect(bench.counters.tokensRevoked == 0)
    }

    @Test("the metadata names the issuer, and every endpoint that there is")
    func metadata() throws {
        let bench = OAuthBench()
        let answer = try #require(bench.get(.metadata))
        #expect(answer.status == 200)
        let metadata = try #require(JSONSerialization.jsonObject(with: answer.body) as? [String: Any])
        let origin = "http://127.0.0.1:8080"
        #expect(metadata["issuer"] as? String == origin)
        let endpoints = [
            "authorization_endpoint": OAuthEndpoint.authorize, "token_endpoint": .token, "revocation_endpoint": .revoke,
            "device_authorization_endpoint": .deviceAuthorization,
        ]
        for (name, endpoint) in endpoints { #expect(metadata[name] as? String == origin + endpoint.rawValue) }
        #expect(Set(metadata["grant_types_supported"] as? [String] ?? []) == Set(DemoGrant.allCases.map(\.rawValue)))
        #expect(metadata["scopes_supported"] as? [String] == ["notes.read", "notes.write"])
        #expect(metadata["response_types_supported"] as? [String] == ["code"])
        #expect(metadata["code_challenge_methods_supported"] as? [String] == ["S256"])
        #expect(metadata["authorization_response_iss_parameter_supported"] as? Bool == true)
        let methods = ["client_secret_basic", "client_secret_post", "none"]
        #expect(metadata["token_endpoint_auth_methods_supported"] as? [String] == methods)
        #expect(metadata["revocation_endpoint_auth_methods_supported"] as? [String] == methods)
    }
}
