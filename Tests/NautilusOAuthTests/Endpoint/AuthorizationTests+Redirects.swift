import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusOAuth

extension AuthorizationTests {
    @Test("the code of the redirect is exchanged with the verifier, once")
    func exchanged() async throws {
        let transport = ScriptedTransport(.json(EndpointFixture.token))
        let endpoint = Self.endpoint(transport)
        let request = try endpoint.authorize(redirect: Self.redirect, scope: ["notes.read"])
        let url = try #require(URL(string: "\(Self.redirect)?code=a%2Fb+c&state=\(Self.state)&session_state=1#_=_"))
        let credential = try await endpoint.exchange(url, for: request)
        #expect(credential.accessToken == "s3cret-new")
        #expect(credential.scope == ["notes.read"])
        #expect(
            transport.attempts.map(\.form) == [
                "grant_type=authorization_code&code=a%2Fb%20c&redirect_uri=com.example.notes%3A%2Fsigned-in"
                    + "&code_verifier=\(Self.verifier)&client_id=app"
            ]
        )
    }

    @Test(
        "only the answer to the request is exchanged",
        arguments: [
            ("code=c&state=STATE", nil),
            ("code=c", .stateMismatch),
            ("", .stateMismatch),
            ("code=c&state=", .stateMismatch),
            ("code=c&state=other", .stateMismatch),
            ("code=c&state=STATEx", .stateMismatch),
            ("code=c&State=STATE", .stateMismatch),
            ("error=access_denied", .stateMismatch),
            ("error=access_denied&state=other", .stateMismatch),
            ("code=c&state=STATE&state=STATE", .malformedReply(reason: "the redirect has several values of state")),
            ("code=c&code=c&state=STATE", .malformedReply(reason: "the redirect has several values of code")),
            ("code=c&state=STATE&iss=https%3A%2F%2Fid.test", nil),
            ("code=c&state=STATE&iss=https://id.test", nil),
            ("code=c&state=STATE&iss=https%3A%2F%2Fid.test%2F", .issuerMismatch),
            ("code=c&state=STATE&iss=", .issuerMismatch),
            ("error=access_denied&state=STATE&iss=https://evil.test", .issuerMismatch),
            (
                "code=c&state=STATE&iss=https://id.test&iss=https://id.test",
                .malformedReply(reason: "the redirect has several values of iss")
            ),
            ("error=access_denied&state=STATE", .accessDenied),
            ("error=access_denied&code=c&state=STATE", .accessDenied),
            ("error=server_error&state=STATE", .unavailable),
            ("error=temporarily_unavailable&state=STATE", .unavailable),
            ("error=invalid_scope&state=STATE", .misconfigured(code: "invalid_scope")),
            ("error=unsupported_response_type&state=STATE", .misconfigured(code: "unsupported_response_type")),
            ("error=invalid_grant&state=STATE", .misconfigured(code: "invalid_grant")),
            ("error=login_required&state=STATE", .misconfigured(code: "login_required")),
            ("error=&state=STATE", .malformedReply(reason: "the redirect's error has no code")),
            ("error=a&error=b&state=STATE", .malformedReply(reason: "the redirect has several values of error")),
            ("state=STATE", .malformedReply(reason: "the redirect has neither a code nor an error")),
            ("code=&state=STATE", .malformedReply(reason: "the redirect has neither a code nor an error")),
            ("code=%FF&state=STATE", .malformedReply(reason: "the redirect's query is not form-encoded")),
        ] as [(String, OAuthError.Kind?)]
    )
    func answers(query: String, kind: OAuthError.Kind?) async throws {
        let query = query.replacingOccurrences(of: "STATE", with: Self.state)
        let (error, sendCount) = try await Self.exchange("\(Self.redirect)?\(query)")
        #expect(error?.kind == kind)
        #expect(sendCount == (kind == nil ? 1 : 0))
        #expect(error?.endsSession != true)
    }

    @Test("an issuer is required of a server that always names itself (RFC 9207 §2.4)")
    func issuer() async throws {
        let server = AuthorizationServer(
            issuer: "https://id.test",
            tokenEndpoint: "https://id.test/token",
            authorizationEndpoint: "https://id.test/authorize",
            namesIssuerInRedirects: true
        )
        let url = "\(Self.redirect)?code=c&state=\(Self.state)"
        #expect(try await Self.exchange(url, server: server).error?.kind == .issuerMismatch)
        #expect(try await Self.exchange(url + "&iss=https://id.test", server: server).error == nil)
    }

    @Test("a request of one server is not answered at another")
    func mixUp() async throws {
        let transport = ScriptedTransport()
        let request = try Self.endpoint().authorize(redirect: Self.redirect)
        let other = AuthorizationServer(issuer: "https://other.test", tokenEndpoint: "https://other.test/token")
        let url = try #require(URL(string: "\(Self.redirect)?code=c&state=\(Self.state)"))
        let error = await EndpointFixture.error { () async throws(OAuthError) in
            try await Self.endpoint(transport, server: other).exchange(url, for: request)
        }
        #expect(error?.kind == .issuerMismatch)
        #expect(transport.count == 0)
    }

    @Test(
        "the redirect leads to the same scheme, host, port and path, whatever their case where it has none",
        arguments: [
            ("com.example.notes:/signed-in", "COM.example.Notes:/signed-in", true),
            ("com.example.notes:/signed-in", "com.example.notes:/Signed-in", false),
            ("com.example.notes:/signed-in", "com.example.notes:/signed-in/", false),
            ("com.example.notes:/signed-in", "com.example.notes:///signed-in", false),
            ("com.example.notes:/signed-in", "com.example.other:/signed-in", false),
            ("https://notes.test/in", "https://NOTES.test:443/in", true),
            ("https://notes.test", "https://notes.test/", true),
            ("https://notes.test/in?a=b", "https://notes.test/in", true),
            ("https://notes.test/in", "http://notes.test/in", false),
            ("https://notes.test/in", "https://notes.test:444/in", false),
            ("https://notes.test/in", "https://notes.test.evil.test/in", false),
            ("https://notes.test/in", "https://notes.test@evil.test/in", false),
            ("https://notes.test/in", "https://user@notes.test/in", false),
            ("http://127.0.0.1:49152/in", "http://127.0.0.1:49152/in", true),
            ("http://127.0.0.1:49152/in", "http://127.0.0.1:49153/in", false),
            ("http://127.0.0.1:49152/in", "http://localhost:49152/in", false),
            ("http://localhost/in", "http://localhost:80/in", true),
            ("http://localhost/in", "http://localhost:443/in", false),
        ]
    )
    func target(redirect: String, url: String, isSame: Bool) async throws {
        let (error, sendCount) = try await Self.exchange("\(url)?code=c&state=\(Self.state)", redirect: redirect)
        let reason = "the URL is not that of this sign-in's redirect"
        #expect(error?.kind == (isSame ? nil : .invalidParameter(reason: reason)))
        #expect(sendCount == (isSame ? 1 : 0))
    }

    @Test("the server's words in a redirect are kept and not printed")
    func serverDescription() async throws {
        let url = "\(Self.redirect)?error=invalid_scope&error_description=s3cret+words&state=\(Self.state)"
        let error = try #require(try await Self.exchange(url).error)
        #expect(error.serverDescription == "s3cret words")
        #expect(!EndpointFixture.printed(error).contains("s3cret"))
    }

    @Test("mutated redirects bring a code or a typed error, and none traps")
    func fuzz() async throws {
        let request = try Self.endpoint().authorize(redirect: "https://notes.test/in")
        let query = "code=c%2Fd&state=\(Self.state)&iss=https%3A%2F%2Fid.test"
        var inputs = InputFuzzer(
            seed: 3,
            [
                "https://notes.test/in?\(query)", "https://notes.test:443/in?\(query)#_=_",
                "https://notes.test/in?error=access_denied&error_description=a+b&state=\(Self.state)",
            ]
        )
        var (codeCount, kinds) = (0, Set<String>())
        let count = trials(20_000)
        for _ in 1...count {
            let url = String(decoding: await inputs.next(), as: UTF8.self)
            do throws(OAuthError) {
                let code = try RedirectReply(url, to: request.redirect).code(for: request, namesIssuer: false)
                if !code.isEmpty { codeCount += 1 }
            } catch {
                kinds.insert(String("\(error.kind)".prefix { $0 != "(" }))
            }
        }
        #expect(codeCount > count / 100)
        #expect(
            kinds.isSuperset(of: [
                "stateMismatch", "issuerMismatch", "invalidParameter", "malformedReply", "accessDenied",
                "misconfigured",
            ])
        )
    }
}
