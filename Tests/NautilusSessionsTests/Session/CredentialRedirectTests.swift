import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

/// A redirect is an answer like any other, and a proxy or a takeover of one path may have made it.
@Suite("Credentials and redirects to other origins")
struct CredentialRedirectTests {
    /// Where requests have gone to: `host/path`.
    private func places(_ world: LoginWorld) -> [String] {
        world.server.attempts.map { ($0.request.url.host ?? "") + $0.request.url.path }
    }

    /// Redirects a path to another origin, which answers with a token of its own.
    private func redirect(_ path: String, _ status: Int, in world: LoginWorld) {
        world.server.on(.post, path, .status(status, header: ["Location": "https://evil.test/take"]))
        for method in [HttpMethod.post, .get] {
            world.server.on(method, "/take", .reply(text: #"{"access_token": "evil"}"#))
        }
    }

    @Test(
        "a redirected refresh keeps the session, and takes no token of another origin",
        arguments: [302, 303, 307, 308]
    )
    func refresh(status: Int) async throws {
        try await LoginWorld.run { world in
            try await world.session.signIn(BearerToken(accessToken: "a", refreshToken: "r"))
            world.server.on(.get, "/things", .status(401))
            redirect("/renew", status, in: world)
            let error = await world.error()
            #expect(error?.kind == .authorization)
            // After 302 and 303 once more: the server may have refreshed the credential, and its answer is lost.
            #expect(Set(places(world)) == ["api.test/things", "api.test/renew"])
            #expect(world.user == "a")
        }
    }

    @Test("a redirected sign-in takes no password to another origin", arguments: [302, 303, 307, 308])
    func signIn(status: Int) async throws {
        try await LoginWorld.run { world in
            redirect("/login", status, in: world)
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
            #expect(places(world) == ["api.test/login"])
            #expect(world.session.current == nil)
        }
    }

    @Test("a redirected revocation takes no credential to another origin", arguments: [302, 303, 307, 308])
    func revocation(status: Int) async throws {
        try await LoginWorld.run { world in
            try await world.session.signIn(BearerToken(accessToken: "a", refreshToken: "r"))
            redirect("/logout", status, in: world)
            _ = try? await world.session.signOut()
            #expect(Set(places(world)) == ["api.test/logout"])
            #expect(world.session.current == nil)
        }
    }

    @Test("a redirect of a sign-in without a body brings no foreign credential", arguments: [302, 307])
    func withoutBody(status: Int) async throws {
        try await LoginWorld.run { world in
            world.server.on(.get, "/login", .status(status, header: ["Location": "https://evil.test/take"]))
            world.server.on(.get, "/take", .reply(text: #"{"access_token": "evil"}"#))
            let login = AnyRequest(.get, ["login"], header: [.authorization: "Basic YTpi"], as: BearerToken.self)
            let error = await #expect(throws: HttpError.self) {
                try await world.session.signIn(by: login, with: world.service)
            }
            #expect(error?.kind == .redirect(.bodyAcrossOrigins))
            #expect(places(world) == ["api.test/login"])
            #expect(world.session.current == nil)
        }
    }

    @Test("a request without any credential may be answered elsewhere, such as for a server's configuration")
    func withoutCredential() async throws {
        try await LoginWorld.run { world in
            world.server.on(.get, "/configuration", .status(302, header: ["Location": "https://cdn.test/file"]))
            world.server.on(.get, "/file", .reply(text: "{}"))
            let anonymous = world.service.anonymous
            try await world.session.signIn {
                _ = try await AnyRequest(.get, ["configuration"], as: String.self).schedule(with: anonymous)
                return BearerToken(accessToken: "a")
            }
            #expect(places(world) == ["api.test/configuration", "cdn.test/file"])
            #expect(world.user == "a")
        }
    }

    @Test("a redirect within the origin is followed")
    func withinOrigin() async throws {
        try await LoginWorld.run { world in
            try await world.session.signIn(BearerToken(accessToken: "a", refreshToken: "r"))
            world.server.on(.get, "/things", .status(401), .status(200))
            world.server.on(.post, "/renew", .status(307, header: ["Location": "/v2/renew"]))
            world.server.on(.post, "/v2/renew", .reply(text: #"{"access_token": "b"}"#))
            #expect(await world.error() == nil)
            #expect(world.user == "b")
        }
    }
}
