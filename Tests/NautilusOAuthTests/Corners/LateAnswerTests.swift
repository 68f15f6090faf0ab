import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

@Suite("Credentials made for an ended session")
struct LateAnswerTests {
    /// How the session ends during its refresh.
    enum End: CaseIterable, Sendable {
        case signOut, signOutNow, signOutWithService
        case revokingSignIn
        case elsewhere, elsewhereNoticed
    }

    /// The refresh: its note is saved for 100 ms, the request is on its way for 100 ms, the answer takes another 100 ms,
    /// and its credential is saved for 100 ms.
    private static let times: [Duration] = stride(from: 0, through: 500, by: 25).map { .milliseconds($0) }

    private static func live(_ world: SessionWorld, answer: Duration = .milliseconds(100)) -> LiveTokens {
        LiveTokens(
            ["anna-r1"],
            at: world.server.transport,
            clock: world.clock,
            transit: .milliseconds(100),
            answer: answer
        )
    }

    @Test(
        "F22: however a session ends, and at whatever time of its refresh, no refresh token of it stays alive",
        arguments: End.allCases,
        [Duration.milliseconds(100), .seconds(5)]
    )
    func everyTime(end: End, answer: Duration) async throws {
        for (index, time) in Self.times.enumerated() {
            try await SessionWorld.run(seed: UInt64(index)) { world in
                let (session, other) = (try await world.signedIn(), world.process())
                try await other.restore()
                let live = Self.live(world, answer: answer)
                try await world.sleep(.seconds(3_600))
                world.store.slowSaves(to: .milliseconds(100))
                async let call = world.call(session)
                try await world.sleep(time)
                switch end {
                case .signOut:
                    try await session.signOut()
                    #expect(live.alive == [], "\(time)")
                case .signOutNow:
                    let rest = session.signOutNow()
                    #expect(!session.isSignedIn)
                    try await rest.finish()
                    #expect(live.alive == [], "\(time)")
                case .signOutWithService:
                    try await session.signOut(with: AnyHttpService<HttpError>(apiUrl: "api.test", clock: world.clock))
                    #expect(live.alive == [], "\(time)")
                case .revokingSignIn:
                    live.add("bert-r1")
                    try await session.signIn(world.server.signIn("bert", at: world.date), revokingReplaced: true)
                case .elsewhere, .elsewhereNoticed:
                    async let signOut: Void = other.signOut()
                    if end == .elsewhereNoticed {
                        try await world.sleep(.milliseconds(5))
                        _ = await world.call(session)
                    }
                    try await signOut
                }
                _ = await call
                // A process that ends in order waits for what it has begun.
                try await session.flush()
                #expect(live.alive == (end == .revokingSignIn ? ["bert-r1"] : []), "\(time)")
            }
        }
    }

    @Test("F22: the calls of a session that is signed out during its refresh fail at once, and the lock is free")
    func atOnce() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let live = Self.live(world, answer: .seconds(6))
            try await world.sleep(.seconds(3_600))
            let start = world.clock.now.offset
            async let call = world.call(session)
            try await world.sleep(.milliseconds(500))
            let rest = session.signOutNow()
            #expect(await call.isSignedOut)
            #expect(world.clock.now.offset - start == .milliseconds(500))
            try await world.sleep(.milliseconds(1))
            let lock = try await world.store.lock(session.key)
            #expect(lock != nil)
            lock?.unlock()
            // The next user need not wait either.
            live.add("bert-r1")
            try await session.signIn(world.server.signIn("bert", at: world.date))
            #expect(world.clock.now.offset - start < .seconds(1))
            try await rest.finish()
            // It may be the same user again, whose new session some servers would end along with it.
            #expect(live.alive == ["bert-r1", "fresh-1"])
            #expect(session.header[.authorization] == "Bearer bert-a1")
            try await session.signOut()
            #expect(live.alive == [])
        }
    }

    @Test("F22: what a refresh brings after somebody else has signed in is revoked with the next sign-out")
    func replaced() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let live = Self.live(world, answer: .seconds(5))
            try await world.sleep(.seconds(3_600))
            async let call = world.call(session)
            try await world.sleep(.milliseconds(500))
            live.add("bert-r1")
            try await session.signIn(world.server.signIn("bert", at: world.date))
            #expect(await call.isSuperseded)
            try await world.sleep(.seconds(60))
            // It may be the same user, whose new session some servers would end along with it.
            #expect(live.alive == ["bert-r1", "fresh-1"])
            try await session.signOut()
            #expect(live.alive == [])
        }
    }

    @Test("F22: a refresh by client credentials, which spends nothing, is not cut off either")
    func clientCredentials() async throws {
        try await SessionWorld.run { world in
            let revoked = Locked<[String]>([])
            world.server.transport
                .on(
                    .post,
                    "/token",
                    .delay(.seconds(2), then: .json(["access_token": "late", "token_type": "Bearer"]))
                )
                .on(.post, "/revoke") { request, _ in
                    guard case .data(let form) = request.body else { return .status(400) }
                    revoked.withLock { $0.append(String(decoding: form.prefix(12), as: UTF8.self)) }
                    return .status(200)
                }
            let endpoint = TokenEndpoint(
                server: AuthorizationServer(
                    issuer: "https://id.test",
                    tokenEndpoint: "https://id.test/token",
                    revocationEndpoint: "https://id.test/revoke"
                ),
                client: OAuthClient(id: "app"),
                transport: world.server.transport,
                clock: world.clock,
                wallClock: { world.date }
            )
            let session = OAuthSession(endpoint: endpoint, store: world.store, refresh: .clientCredentials(scope: nil))
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try await world.sleep(.seconds(3_600))
            async let call = world.call(session)
            try await world.sleep(.seconds(1))
            try await session.signOut()
            #expect(await call.isSignedOut)
            #expect(revoked.withLock { $0 }.contains("token=late&t"))
        }
    }

    @Test("F22: a time limit still cuts a refresh off, and a sign-out within the refresh waits for nothing")
    func unchanged() async throws {
        try await SessionWorld.run { world in
            let session = world.process(limits: RefreshLimits(timeLimit: .seconds(1), maxCoolDowns: 0))
            try await session.signIn(world.server.signIn("anna", at: world.date))
            world.server.setDelay(.seconds(5))
            try await world.sleep(.seconds(3_600))
            let start = world.clock.now.offset
            #expect(!(await world.call(session).isOk))
            #expect(world.clock.now.offset - start == .seconds(1))
            try await world.sleep(.milliseconds(10))
            let lock = try await world.store.lock(session.key)
            #expect(lock != nil)
            lock?.unlock()
        }
    }

    @Test("F22: a sign-in that a sign-out has overtaken leaves no refresh token alive", arguments: [true, false])
    func overtakenSignIn(isFollowedBySignIn: Bool) async throws {
        try await SessionWorld.run { world in
            let session = world.process()
            let live = Self.live(world)
            live.add("carl-r1")
            let carl = world.server.signIn("carl", at: world.date)
            let signIn = BackgroundTask.start {
                await #expect(throws: SessionError.self) {
                    try await session.signIn {
                        try await world.sleep(.seconds(5))
                        return carl
                    }
                }
            }
            try await world.sleep(.seconds(1))
            if isFollowedBySignIn {
                try await session.signIn(world.server.signIn("anna", at: world.date))
            } else {
                try await session.signOut()
                live.add("anna-r1")
            }
            await signIn.value
            try await session.flush()
            #expect(live.alive == (isFollowedBySignIn ? ["anna-r1", "carl-r1"] : ["anna-r1"]))
            try await session.signOut()
            #expect(live.alive == (isFollowedBySignIn ? [] : ["anna-r1"]))
        }
    }
}
