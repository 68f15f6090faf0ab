import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusOAuth

@Suite("AuthorizationServer, discovery")
struct DiscoveryTests {
    private static let issuer = "https://id.test/tenant"

    private static func discover(
        _ issuer: String = issuer,
        document: MetadataDocument = .oauth,
        _ transport: ScriptedTransport
    ) async throws(OAuthError) -> AuthorizationServer {
        try await AuthorizationServer.discover(
            issuer: issuer,
            document: document,
            transport: transport,
            retrierFactory: BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = .constant(.zero)
                    $0.maxAttempts = 3
                    $0.budget = .unlimited
                }
            ),
            clock: ManualClock()
        )
    }

    private static func error(_ issuer: String = issuer, _ transport: ScriptedTransport) async -> OAuthError? {
        await EndpointFixture.error { () async throws(OAuthError) in try await discover(issuer, transport) }
    }

    @Test("the ways of proof that the server takes are read")
    func codeChallengeMethods() async throws {
        let document = #"{"issuer":"https://id.test/tenant","token_endpoint":"https://id.test/token","#
        let methods = #""code_challenge_methods_supported":["plain"]}"#
        let reply = ScriptedReply.reply(header: [.contentType: "application/json"], text: document + methods)
        #expect(try await Self.discover(Self.issuer, ScriptedTransport(reply)).codeChallengeMethods == ["plain"])
    }

    @Test("a reply that does not end is given up at 256 KiB, and not kept in memory")
    func endless() async {
        let transport = EndlessTransport()
        let error = await EndpointFixture.error { () async throws(OAuthError) in
            try await AuthorizationServer.discover(issuer: Self.issuer, transport: transport, clock: ManualClock())
        }
        #expect(error?.httpError?.kind == .responseTooLarge(limit: 262_144))
        // The chunk that goes beyond, and no further one.
        #expect(transport.taken == 270_000)
    }

    @Test(
        "the document's place is made of the issuer (RFC 8414 §3.1, OpenID Connect Discovery §4)",
        arguments: [
            ("https://id.test", .oauth, "https://id.test/.well-known/oauth-authorization-server"),
            ("https://id.test/", .oauth, "https://id.test/.well-known/oauth-authorization-server"),
            ("https://id.test/a/b", .oauth, "https://id.test/.well-known/oauth-authorization-server/a/b"),
            ("https://id.test/a/", .oauth, "https://id.test/.well-known/oauth-authorization-server/a"),
            ("https://id.test:8443/a", .oauth, "https://id.test:8443/.well-known/oauth-authorization-server/a"),
            ("http://localhost:8080", .oauth, "http://localhost:8080/.well-known/oauth-authorization-server"),
            ("https://id.test", .openId, "https://id.test/.well-known/openid-configuration"),
            ("https://id.test/a/", .openId, "https://id.test/a/.well-known/openid-configuration"),
        ] as [(String, MetadataDocument, String)]
    )
    func place(issuer: String, document: MetadataDocument, url: String) async throws {
        let transport = ScriptedTransport(.json(["issuer": issuer, "token_endpoint": "https://id.test/token"]))
        let server = try await Self.discover(issuer, document: document, transport)
        #expect(server == AuthorizationServer(issuer: issuer, tokenEndpoint: "https://id.test/token"))
        #expect(transport.attempts.map(\.request.url.absoluteString) == [url])
        #expect(transport.attempts.map(\.request.method) == [.get])
        #expect(transport.attempts.first?.header[.accept] == "application/json")
    }

    @Test("everything that is used is read, and the rest is left")
    func whole() async throws {
        let transport = ScriptedTransport(
            .reply(
                text: """
                    {"issuer":"https://id.test/tenant","token_endpoint":"https://id.test/token?a=b",
                    "authorization_endpoint":"https://id.test/authorize","jwks_uri":5,
                    "device_authorization_endpoint":"https://id.test/device",
                    "revocation_endpoint":"http://127.0.0.1:8080/revoke","scopes_supported":["a"],
                    "authorization_response_iss_parameter_supported":true}
                    """
            )
        )
        let server = try await Self.discover(Self.issuer, transport)
        #expect(server.tokenEndpoint == "https://id.test/token?a=b")
        #expect(server.authorizationEndpoint == "https://id.test/authorize")
        #expect(server.deviceAuthorizationEndpoint == "https://id.test/device")
        #expect(server.revocationEndpoint == "http://127.0.0.1:8080/revoke")
        #expect(server.namesIssuerInRedirects)
    }

    @Test(
        "the document is the issuer's own, byte by byte (RFC 8414 §3.3)",
        arguments: [
            "https://id.test/tenant/", "https://id.test", "https://ID.test/tenant", "http://id.test/tenant",
            "https://id.test:443/tenant", "https://id.test/Tenant", "https://evil.test/tenant",
        ]
    )
    func otherIssuer(issuer: String) async {
        let transport = ScriptedTransport(.json(["issuer": issuer, "token_endpoint": "https://id.test/token"]))
        #expect(await Self.error(Self.issuer, transport)?.kind == .issuerMismatch)
    }

    @Test(
        "an issuer that cannot be asked is refused before anything is sent",
        arguments: [
            ("http://id.test", .insecureUrl), ("", .unusable), ("id.test", .unusable),
            ("https://id.test?a=b", .unusable),
            ("https://id.test#a", .refused), ("ftp://id.test", .refused), ("https://", .refused),
            ("https://user@id.test", .refused), ("https://id.test/a b", .refused), ("a://://", .refused),
        ] as [(String, Verdict)]
    )
    func badIssuer(issuer: String, verdict: Verdict) async throws {
        let transport = ScriptedTransport()
        let error = try #require(await Self.error(issuer, transport))
        switch (verdict, error.kind) {
        case (.insecureUrl, .insecureUrl): break
        case (.unusable, .invalidParameter(reason: "issuer: it must be an absolute URL without a query")): break
        case (.refused, .invalidParameter(let reason)): #expect(reason.hasPrefix("issuer: "))
        default: Issue.record("\(error)")
        }
        #expect(transport.count == 0)
    }

    enum Verdict: Sendable { case insecureUrl, unusable, refused }

    @Test(
        "a document that cannot be used is an error of its kind",
        arguments: [
            (#"{"issuer":"https://id.test/tenant"}"#, .noEndpoint(name: "token_endpoint")),
            (#"{"issuer":"https://id.test/tenant","token_endpoint":"http://id.test/token"}"#, .insecureUrl),
            (
                #"{"issuer":"https://id.test/tenant","token_endpoint":"https://a","revocation_endpoint":"http://a"}"#,
                .insecureUrl
            ),
            (
                #"{"issuer":"https://id.test/tenant","token_endpoint":"https://a b"}"#,
                .invalidParameter(
                    reason: "token_endpoint: it contains a space, a control character or a backslash"
                )
            ),
            (
                #"{"issuer":"https://id.test/tenant","token_endpoint":5}"#,
                .malformedReply(reason: "token_endpoint is no text")
            ),
            (#"{"token_endpoint":"https://id.test/token"}"#, .malformedReply(reason: "issuer is missing")),
            ("<html>", .malformedReply(reason: "it is no JSON object")),
        ] as [(String, OAuthError.Kind)]
    )
    func unusable(body: String, kind: OAuthError.Kind) async {
        #expect(await Self.error(Self.issuer, ScriptedTransport(.reply(text: body)))?.kind == kind)
    }

    @Test(
        "a request that fails is an error of its kind; it spends nothing, so no answer is lost and outages are waited out",
        arguments: [
            (.status(404), .malformedReply(reason: "status 404 without an error code"), 1),
            (.status(503), .unavailable, 3), (.status(500), .unavailable, 3),
            (.fail(.networkConnectionLost), .unavailable, 3), (.fail(.timedOut), .unavailable, 3),
            (.fail(CancellationError()), .cancelled, 1),
            (
                .status(302, header: ["Location": "http://id.test/"]),
                .malformedReply(reason: "the redirect leads from https to http"), 1
            ),
            (.status(302), .malformedReply(reason: "status 302"), 1),
        ] as [(ScriptedReply, OAuthError.Kind, Int)]
    )
    func failures(reply: ScriptedReply, kind: OAuthError.Kind, sendCount: Int) async throws {
        let transport = ScriptedTransport { _, _ in reply }
        let error = try #require(await Self.error(Self.issuer, transport))
        #expect(error.kind == kind)
        #expect(error.httpError?.trace.attempts.count == sendCount)
        #expect(transport.count == sendCount)
    }

    @Test("mutated documents make a server whose URLs are sound, or a typed error, and none traps")
    func fuzz() async throws {
        var inputs = InputFuzzer(
            seed: 5,
            [
                #"{"issuer":"https://id.test","token_endpoint":"https://id.test:1/t?a=%20b"}"#,
                #"{"token_endpoint":"http://127.0.0.1:1/t","revocation_endpoint":"http://[::1]/r","issuer":"https://id.test"}"#,
            ]
        )
        var (readCount, kinds) = (0, Set<String>())
        let count = trials(20_000)
        for _ in 1...count {
            guard let metadata = try? await ServerMetadata(Data(inputs.next()), contentType: nil) else { continue }
            do throws(OAuthError) {
                let server = try metadata.server(of: "https://id.test")
                let url = try EndpointUrl(server.tokenEndpoint, name: "token_endpoint").url(adding: ["a": "b"])
                let origin = HttpOrigin(url)
                if origin?.scheme == "https" || origin?.isLoopback == true { readCount += 1 } else { Issue.record() }
            } catch {
                kinds.insert(String("\(error.kind)".prefix { $0 != "(" }))
            }
        }
        #expect((count / 100..<count / 10 * 9).contains(readCount))
        #expect(kinds == ["issuerMismatch", "insecureUrl", "invalidParameter", "noEndpoint"])
    }
}
