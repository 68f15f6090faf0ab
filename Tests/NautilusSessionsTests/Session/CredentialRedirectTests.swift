import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

/// A redirect is an answer like any other, and a proxy or a takeover of one path may have made it.
@Suite("No redirect takes a session's credential to another origin")
struct CredentialRedirectTests {
    private struct World: SimulatedWorld {
        let clock: ManualClock
        let server: ScriptedTransport
        let session: Session<BearerToken>
        let service: AnyHttpService<HttpError>

        init(_ simulation: Simulated) {
            clock = simulation.clock
            server = ScriptedTransport(clock: clock)
            let guests = AnyHttpService<HttpError>(apiUrl: "api.test", transport: server, clock: clock)
            let rules = SessionRules.bearer(
                revoke: { token in
                    let body = HttpBody.json(["token": token.accessToken])
                    _ = try await AnyRequest(.post, ["logout"], body: body, as: Data.self).schedule(with: guests)
                },
                renew: { token in
                    let body = HttpBody.json(["token": token])
                    return try await AnyRequest(.post, ["renew"], body: body, as: BearerToken.self)
                        .schedule(with: guests)
                }
            )
            session = Session(
                key: CredentialKey(issuer: "api.test"),
                rules: rules,
                store: MemoryStore(),
                clock: clock
            )
            service = AnyHttpService(
                apiUrl: "api.test",
                retrierFactory: session.retrierFactory(.atOnce),
                transport: server,
                clock: clock
            )
        }

        /// Where requests have gone to: `host/path`.
        var places: [String] {
            server.attempts.map { ($0.request.url.host ?? "") + $0.request.url.path }
        }

        /// The failure of a call.
        func error() async -> HttpError? {
            await AnyRequest(.get, ["things"], as: String.self).result(with: service).error
        }

        func redirect(_ path: String, _ status: Int) {
            server.on(.post, path, .status(status, header: ["Location": "https://evil.test/take"]))
            for method in [HttpMethod.post, .get] {
                server.on(method, "/take", .reply(text: #"{"access_token": "evil"}"#))
            }
        }
    }

    @Test("when it is renewed: the session stays, and takes no other's token", arguments: [302, 303, 307, 308])
    func renewal(status: Int) async throws {
        try await World.run { world in
            try await world.session.signIn(BearerToken(accessToken: "a", refreshToken: "r"))
            world.server.on(.get, "/things", .status(401))
            world.redirect("/renew", status)
            let error = await world.error()
            #expect(error?.kind == .authorization)
            // After 302 and 303 once more: the server may have renewed the credential, and its answer is lost.
            #expect(Set(world.places) == ["api.test/things", "api.test/renew"])
            #expect(world.session.current?.credential.accessToken == "a")
        }
    }

    @Test("when a password asks for it", arguments: [302, 303, 307, 308])
    func signIn(status: Int) async throws {
        try await World.run { world in
            world.redirect("/login", status)
            let login = AnyRequest(
                .post,
                ["login"],
                body: .json(["password": "secret"]),
                as: BearerToken.self
            )
            let error = await #expect(throws: HttpError.self) {
                try await world.session.signIn(by: login, with: world.service)
            }
            #expect(error?.kind == .redirect(.bodyAcrossOrigins))
            #expect(world.places == ["api.test/login"])
            #expect(world.session.current == nil)
        }
    }

    @Test("when it is revoked", arguments: [302, 303, 307, 308])
    func revocation(status: Int) async throws {
        try await World.run { world in
            try await world.session.signIn(BearerToken(accessToken: "a", refreshToken: "r"))
            world.redirect("/logout", status)
            _ = try? await world.session.signOut()
            #expect(Set(world.places) == ["api.test/logout"])
            #expect(world.session.current == nil)
        }
    }

    @Test("a redirect within the origin is followed")
    func withinOrigin() async throws {
        try await World.run { world in
            try await world.session.signIn(BearerToken(accessToken: "a", refreshToken: "r"))
            world.server.on(.get, "/things", .status(401), .status(200))
            world.server.on(.post, "/renew", .status(307, header: ["Location": "/v2/renew"]))
            world.server.on(.post, "/v2/renew", .reply(text: #"{"access_token": "b"}"#))
            #expect(await world.error() == nil)
            #expect(world.session.current?.credential.accessToken == "b")
        }
    }
}
