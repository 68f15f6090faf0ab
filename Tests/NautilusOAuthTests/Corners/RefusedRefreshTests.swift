import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

@Suite("A refresh that the server refuses")
struct RefusedRefreshTests {
    @Test("invalid_grant ends the session: one event, an empty store, and later calls fail without a request")
    func invalidGrant() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let events = EventLog(session)
            world.server.endSession(of: "anna")
            try await world.sleep(.seconds(3600))
            #expect(
                await world.calls(Array(repeating: session, count: 10)).count { $0.oauthKind == .invalidGrant } == 10
            )
            #expect(await world.call(session).oauthKind == .invalidGrant)
            #expect(world.server.tokenRequests == 1)
            #expect(try await world.stored(session) == nil)
            #expect(await events.names() == ["sessionExpired"])
        }
    }

    @Test("invalid_grant for a token that has been replaced meanwhile ends nothing: the replacement is taken")
    func replacedMeanwhile() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            try await world.replace(session, during: .json(["error": "invalid_grant"], status: 400))
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).isOk)
            #expect(try await world.stored(session)?.credential.refreshToken == "anna-r9")
        }
    }

    @Test("a token endpoint that asks its own session for a credential is told so, and no outage of the server")
    func recursive() async throws {
        try await SessionWorld.run { world in
            let own = Locked<OAuthSession?>(nil)
            let session = world.process(
                endpointRetriers: AnyRetrierFactory { request in
                    own.withLock { $0 }?.authorization.create(for: request) ?? NilRetrier()
                }
            )
            own.withLock { $0 = session }
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try await world.sleep(.seconds(3600))
            let start = world.clock.now
            guard case .recursive? = await world.call(session).error?.underlying as? RefreshError else {
                Issue.record("it has not failed as what it is")
                return
            }
            #expect(world.server.tokenRequests == 0 && world.clock.now == start && session.isSignedIn)
            own.withLock { $0 = nil }
        }
    }

    @Test(
        "a mistake of the configuration, an overload, an outage and nonsense keep the credential, here and in the store",
        arguments: [
            (
                ScriptedReply.json(["error": "invalid_client"], status: 401),
                OAuthError.Kind.misconfigured(code: "invalid_client")
            ),
            (.json(["error": "unauthorized_client"], status: 400), .misconfigured(code: "unauthorized_client")),
            (.status(429), .unavailable), (.status(500), .unavailable), (.status(503), .unavailable),
            (.fail(.cannotConnectToHost, delivery: .notSent), .unavailable),
        ]
    )
    func kept(reply: ScriptedReply, kind: OAuthError.Kind) async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn(limits: SessionWorld.impatient)
            world.server.fail(.answered(reply))
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).oauthKind == kind)
            #expect(session.isSignedIn)
            let stored = try #require(try await world.stored(session))
            #expect(stored.credential.refreshToken == "anna-r1")
            #expect(stored.unanswered == 0)
            try await world.sleep(.seconds(60))
            #expect(await world.call(session).isOk)
            #expect(world.server.spent == ["anna-r1"])
        }
    }

    @Test("C14: one 503 of the authorization server fails none of twenty calls: they wait for the refresh after it")
    func waitedOut() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.server.fail(.answered(.status(503, header: ["Retry-After": "7"])))
            try await world.sleep(.seconds(3600))
            let start = world.clock.now
            #expect(await world.calls(Array(repeating: session, count: 20)).okCount == 20)
            #expect(world.server.tokenRequests == 2)
            #expect(world.server.spent == ["anna-r1"])
            #expect(start.duration(to: world.clock.now) >= .seconds(7), "as the server has asked")
        }
    }

    @Test("C14: a call without the time says when the next refresh may start")
    func saysWhen() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn(limits: SessionWorld.impatient)
            world.server.fail(.answered(.status(503, header: ["Retry-After": "7"])))
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).error?.retryAfter == .seconds(7))
            try await world.sleep(.seconds(2))
            #expect(await world.call(session).error?.retryAfter == .seconds(5))
        }
    }

    @Test("a reply that makes no sense keeps the credential: a hotel's network answers like that, too")
    func nonsense() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.server.fail(.answered(.reply(header: [.contentType: "text/html"], text: "<html>Welcome!</html>")))
            try await world.sleep(.seconds(3600))
            guard case .malformedReply = await world.call(session).oauthKind else {
                Issue.record("the reply was taken for a sound one")
                return
            }
            #expect(try await world.stored(session)?.unanswered == 0)
            try await world.sleep(.seconds(60))
            #expect(await world.call(session).isOk)
        }
    }

    @Test(
        "a call that needs more than the credential allows fails with the scope that it names, and nothing is refreshed"
    )
    func insufficientScope() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let challenge =
                #"Basic realm="a, b", Bearer realm="notes", Error="insufficient_scope", scope="notes.write notes.read""#
            world.server.transport.on(.get, "/notes", .status(403, header: [.wwwAuthenticate: challenge]))
            let result = await world.call(session)
            #expect(result.oauthKind == .insufficientScope(["notes.read", "notes.write"]))
            #expect(result.error?.kind == .authorization)
            #expect(result.error?.status == 403)
            #expect(world.server.tokenRequests == 0)
        }
    }

    @Test("a session that the server has ended is over in every process, and all say so: it expired")
    func expiredElsewhere() async throws {
        try await SessionWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            try await second.restore()
            world.server.endSession(of: "anna")
            try await world.sleep(.seconds(3600))
            #expect(await world.call(first).oauthKind == .invalidGrant)
            let events = EventLog(second)
            for process in [second, world.process()] {
                let result = await world.call(process)
                guard case .sessionExpired? = result.refreshError else {
                    return #expect(Bool(false), "\(result)")
                }
                #expect(result.sessionKind == .expired)
                #expect(!process.isSignedIn)
            }
            #expect(await events.names() == ["sessionExpired"])
            #expect(world.server.tokenRequests == 1)
            let record = try #require(try await world.store.load(first.key))
            #expect(record.hasExpired && record.content.isEmpty)

            // Signed out or in again, nothing of it is left.
            try await second.signOut()
            #expect(try await world.store.load(first.key) == nil)
            try await first.signIn(world.server.signIn("bert", at: world.date))
            try await second.restore()
            #expect(await world.call(second).isOk)
        }
    }

    @Test("a credential without a refresh token ends its session when the server rejects it, and at no time of its own")
    func noRefreshToken() async throws {
        try await SessionWorld.run { world in
            let session = world.process()
            let token = world.server.signIn("anna", at: world.date).accessToken
            try await session.signIn(
                OAuthCredential(accessToken: token, lifetime: .seconds(60), receivedAt: world.date)
            )
            for _ in 1...2 {
                try await world.sleep(.seconds(60))
                #expect(await world.call(session).isOk)
            }
            world.server.revokeAccessTokens()
            #expect(await world.call(session).oauthKind == .noRefreshToken)
            #expect(!session.isSignedIn)
            #expect(world.server.tokenRequests == 0)
        }
    }
}
