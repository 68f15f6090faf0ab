import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

/// A refresh finds in the store a credential that another process has put there, at the worst moment.
@Suite("A refresh that finds another process's work")
struct ForeignRefreshTests {
    @Test("an expired credential, saved while this process waits for the lock, is refreshed and never sent")
    func expiredWhileWaiting() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let lock = try #require(try await world.store.lock(session.key))
            try await world.sleep(.seconds(3600))
            async let call = world.call(session)
            try await world.sleep(.milliseconds(500))
            try await world.store.save(Self.expired(in: world, session), for: session.key)
            // Long enough for another look while the lock is still held.
            try await world.sleep(.milliseconds(500))
            lock.unlock()
            #expect(await call.isOk)
            #expect(world.server.carried == ["anna-a2"])
            #expect(world.server.spent == ["anna-r1"])
        }
    }

    @Test("an expired credential, found with the lock in hand, is refreshed and never sent")
    func expiredWithLock() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let lock = try #require(try await world.store.lock(session.key))
            try await world.sleep(.seconds(3600))
            async let call = world.call(session)
            try await world.sleep(.milliseconds(500))
            // At the same instant: the next look is one with the lock.
            try await world.store.save(Self.expired(in: world, session), for: session.key)
            lock.unlock()
            #expect(await call.isOk)
            #expect(world.server.carried == ["anna-a2"])
            #expect(world.server.spent == ["anna-r1"])
        }
    }

    @Test("an expired successor of a token that the server refuses is never sent: its own token is spent at once")
    func expiredSuccessor() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            try await world.sleep(.seconds(3600))
            let expired = try await Self.expired(in: world, session, refreshToken: "anna-r9")
            let sent = Locked<[String]>([])
            let (store, key) = (world.store, session.key)
            world.server.transport.on(.get, "/notes", .reply(text: "ok"))
            world.server.transport.on(.post, "/token") { request, _ in
                guard case .data(let body) = request.body else { return .status(400) }
                let form = String(decoding: body, as: UTF8.self)
                sent.withLock { $0.append(form.contains("anna-r9") ? "anna-r9" : "anna-r1") }
                if form.contains("anna-r9") {
                    return .json(["access_token": "anna-a10", "token_type": "Bearer"])
                }
                try await store.save(expired, for: key)
                return .json(["error": "invalid_grant"], status: 400)
            }
            #expect(await world.call(session).isOk)
            #expect(world.server.carried == ["anna-a10"])
            #expect(sent.withLock { $0 } == ["anna-r1", "anna-r9"])
        }
    }

    @Test(
        "another user's sign-in, found while this process waits for the lock, ends its calls: none goes out as the other"
    )
    func otherUser() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let lock = try #require(try await world.store.lock(session.key))
            try await world.sleep(.seconds(3600))
            async let call = world.call(session)
            try await world.sleep(.milliseconds(500))
            let bert = world.server.signIn("bert", at: world.date)
            try await world.store.save(StoredCredential(session: UUID(), credential: bert), for: session.key)
            lock.unlock()
            #expect(await call.refreshError.map { "\($0)" } == RefreshError.superseded.description)
            #expect(world.server.carried.isEmpty)
            #expect(world.server.tokenRequests == 0)
        }
    }

    @Test("credentials without an expiry: twenty processes are rejected at once, and one of them refreshes")
    func noExpiry() async throws {
        try await simulate { simulation in
            let world = SessionWorld(simulation, lifetime: nil)
            let first = try await world.signedIn()
            let processes = [first] + (1..<20).map { _ in world.process() }
            world.server.revokeAccessTokens()
            #expect(await world.calls(processes).okCount == 20)
            #expect(world.server.tokenRequests == 1)
        }
    }

    @Test(
        "an expired credential, found by a refresh that fails, is this process's as well from the next look on",
        arguments: [RotatingServer.Fault.answered(.status(503)), .refused, .droppedBefore, .answerLost]
    )
    func expiredAndFailed(fault: RotatingServer.Fault) async throws {
        try await SessionWorld.run { world in
            let sharing = CredentialSharing(lostAnswerRetries: 0)
            let session = try await world.signedIn(sharing: sharing, limits: SessionWorld.impatient)
            let lock = try #require(try await world.store.lock(session.key))
            try await world.sleep(.seconds(3600))
            world.server.fail(fault)
            async let call = world.call(session)
            try await world.sleep(.milliseconds(500))
            try await world.store.save(Self.expired(in: world, session), for: session.key)
            lock.unlock()
            #expect(await !call.isOk)
            try await session.restore()
            #expect(session.header[.authorization] == "Bearer anna-expired")
            // And the cool-down goes on: nothing is sent, neither that credential nor a refresh.
            #expect(await !world.call(session).isOk)
            #expect(world.server.carried.isEmpty)
            #expect(world.server.tokenRequests == 1)
        }
    }

    @Test("an expired credential, found during a cool-down, sends no call off before the refresh that it waits for")
    func expiredInCoolDown() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            try await world.sleep(.seconds(3600))
            world.server.fail(.answered(.status(503)))
            async let call = world.call(session)
            try await world.sleep(.milliseconds(200))
            try await world.store.save(Self.expired(in: world, session), for: session.key)
            try await session.restore()
            #expect(session.header[.authorization] == "Bearer anna-expired")
            #expect(await call.isOk)
            #expect(world.server.carried == ["anna-a2"])
            #expect(world.server.tokenRequests == 2)
        }
    }

    /// A credential of the session that has been expired for an hour.
    private static func expired(
        in world: SessionWorld,
        _ session: OAuthSession,
        refreshToken: String = "anna-r1"
    ) async throws -> StoredCredential {
        let stored = try #require(try await world.stored(session))
        let credential = OAuthCredential(
            accessToken: "anna-expired",
            refreshToken: refreshToken,
            lifetime: .seconds(3600),
            receivedAt: world.date.addingTimeInterval(-7200)
        )
        return try StoredCredential(session: stored.session, number: stored.number, credential: credential)
    }
}
