import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

@Suite("The retrier of a session")
struct OAuthRetrierTests {
    /// Sends each attempt to another origin than the service's.
    private struct Elsewhere: CallInterceptor {
        func intercept(
            _ request: HttpRequest,
            context: CallContext,
            next: Next
        ) async throws -> HttpResponse<Data> {
            var request = request
            request.url = try #require(URL(string: "https://other.test/notes"))
            return try await next(request)
        }
    }

    @Test("a request that an interceptor sends to another origin carries no token")
    func otherOrigin() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let service = AnyHttpService(
                apiUrl: "api.test",
                interceptors: [Elsewhere()],
                retrierFactory: session.authorization,
                transport: world.server.transport,
                clock: world.clock
            )
            await #expect(throws: HttpError.self) { try await GetNotes().schedule(with: service) }
            #expect(world.server.carried == [nil])
            #expect(world.server.tokenRequests == 0)
        }
    }

    @Test("a token of another type than Bearer, in whatever case, is not sent", arguments: ["MAC", "DPoP", "Bearer2"])
    func otherType(type: String) async throws {
        try await SessionWorld.run { world in
            let session = world.process()
            try await session.signIn(OAuthCredential(accessToken: "a", tokenType: type, receivedAt: world.date))
            #expect(
                await world.call(session).oauthKind == .malformedReply(reason: "the token's type is not Bearer")
            )
            #expect(world.server.transport.count == 0)
        }
    }

    @Test("a refresh that brings a token of another type keeps it with the rotated refresh token, and is not repeated")
    func otherTypeRefreshed() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let tokens = ["access_token": "anna-a2", "refresh_token": "anna-r2", "token_type": "DPoP"]
            world.server.fail(.answered(.json(tokens)))
            try await world.sleep(.seconds(3600))
            for _ in 1...2 {
                #expect(
                    await world.call(session).oauthKind == .malformedReply(reason: "the token's type is not Bearer")
                )
            }
            #expect(world.server.tokenRequests == 1)
            #expect(world.server.carried == [])
            #expect(session.isSignedIn)
            let stored = try #require(try await world.stored(session))
            #expect((stored.credential.refreshToken, stored.credential.tokenType) == ("anna-r2", "DPoP"))
            #expect(stored.unanswered == 0)
        }
    }

    @Test("a refresh that is answered by a form serves like any other")
    func formRefreshed() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let header: HttpHeader = [.contentType: "application/x-www-form-urlencoded; charset=utf-8"]
            let form = "access_token=anna-a2&refresh_token=anna-r2&scope=&token_type=bearer"
            world.server.fail(.answered(.reply(header: header, text: form)))
            try await world.sleep(.seconds(3600))
            world.server.transport.on(.get, "/notes", .reply(text: "ok"))
            #expect(await world.call(session).isOk)
            #expect(world.server.carried == ["anna-a2"])
            #expect(try await world.stored(session)?.credential.refreshToken == "anna-r2")
        }
    }

    @Test("a call that began as one user fails when another signs in before its retry, and is not sent again")
    func otherUser() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let service = AnyHttpService(
                apiUrl: "api.test",
                retrierFactory: .composed(
                    session.authorization,
                    BackoffRetrier.factory(
                        .standard.with {
                            $0.backoff = .constant(.seconds(10), jitter: .none)
                            $0.budget = .unlimited
                        }
                    )
                ),
                transport: world.server.transport,
                clock: world.clock
            )
            world.server.transport.on(.get, "/notes", .status(503), .reply(text: "ok"))
            async let call = GetNotes().result(with: service)
            try await world.sleep(.seconds(5))
            try await session.signIn(world.server.signIn("bert", at: world.date))
            #expect(await call.refreshError.map { "\($0)" } == RefreshError.superseded.description)
            #expect(world.server.carried == ["anna-a1"])
        }
    }

    @Test("a fresh token that is rejected again is an error: one refresh, two sends")
    func rejectedTwice() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.server.transport.on(.get, "/notes", .status(401), afterLast: .repeat)
            #expect(await world.call(session).error?.status == 401)
            #expect(world.server.carried == ["anna-a1", "anna-a2"])
            #expect(world.server.tokenRequests == 1)
        }
    }

    @Test("missing scope is an error of its own with 403 and with 401, and refreshes nothing", arguments: [401, 403])
    func missingScope(status: Int) async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let challenge = #"Bearer error="insufficient_scope", scope="notes.write""#
            world.server.transport.on(.get, "/notes", .status(status, header: [.wwwAuthenticate: challenge]))
            #expect(await world.call(session).oauthKind == .insufficientScope(["notes.write"]))
            #expect(world.server.tokenRequests == 0)
        }
    }

    @Test(
        "a demand for another authentication is an error with what is demanded, and refreshes nothing (RFC 9470 §3)",
        arguments: [
            (#", acr_values="gold silver", max_age="60""#, ["gold", "silver"], .seconds(60)), ("", [], nil),
            (#", max_age="-1""#, [], nil),
        ] as [(String, [String], Duration?)]
    )
    func missingAuthentication(demand: String, values: [String], maxAge: Duration?) async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let challenge = #"Bearer error="insufficient_user_authentication""# + demand
            world.server.transport.on(.get, "/notes", .status(401, header: [.wwwAuthenticate: challenge]))
            let kind = await world.call(session).oauthKind
            #expect(kind == .insufficientAuthentication(acrValues: values, maxAge: maxAge))
            #expect(world.server.tokenRequests == 0)
        }
    }

    @Test("another origin, reached by a redirect, has no say in the scope")
    func redirected() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let challenge = #"Bearer error="insufficient_scope", scope="notes.write""#
            world.server.transport
                .on(.get, "/notes", .status(302, header: [.location: "https://other.test/elsewhere"]))
                .on(.get, "/elsewhere", .status(403, header: [.wwwAuthenticate: challenge]))
            let result = await world.call(session)
            #expect(result.error?.kind == .status(403))
            #expect(result.oauthKind == nil)
        }
    }
}
