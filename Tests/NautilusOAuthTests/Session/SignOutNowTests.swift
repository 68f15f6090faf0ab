import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

@Suite("A sign-out that cannot be waited for")
struct SignOutNowTests {
    @Test("a sign-out that nobody waits for ends nobody who signs in afterwards", arguments: 0..<25)
    func unawaited(seed: UInt64) async throws {
        try await SessionWorld.run(seed: seed) { world in
            let session = try await world.signedIn()
            session.signOutNow()
            #expect(!session.isSignedIn)
            #expect(session.header.isEmpty)
            let credential = world.server.signIn("bert", at: world.date)
            try await session.signIn(credential)
            try await world.sleep(.seconds(10))
            #expect(session.header[.authorization] == "Bearer bert-a1")
            #expect(try await world.stored(session)?.credential == credential)
            #expect(await world.call(session).isOk)
            #expect(world.server.carried == ["bert-a1"])
            #expect(world.server.revoked == ["anna-r1", "anna-a1"])
        }
    }

    @Test("signOutNow does everything that signOut does", arguments: SignOutTests.Trouble.allCases)
    func finished(trouble: SignOutTests.Trouble) async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            let lock = try await trouble.begin(world, session)
            let signOut = session.signOutNow()
            #expect(!session.isSignedIn)
            try await world.sleep(.milliseconds(1))
            SignOutTests.heal(world.store)
            #expect(await world.call(world.process()).isSignedOut)
            lock?.unlock()
            try? await signOut.finish()
            try await world.sleep(.seconds(2_000))
            #expect(try await world.store.version(of: session.key) == nil)
            #expect(world.server.revoked == ["anna-r1", "anna-a1"])
            #expect(world.server.carried.isEmpty)
        }
    }

    @Test(
        "a sign-out and a sign-in at a time leave the session that came last, here and in the store",
        arguments: 0..<25
    )
    func atOnce(seed: UInt64) async throws {
        try await SessionWorld.run(seed: seed) { world in
            let session = try await world.signedIn()
            let credential = world.server.signIn("bert", at: world.date)
            let order = Locked<[String]>([])
            async let signOut: Void? = {
                order.withLock { $0.append("signOut") }
                return try? await session.signOut()
            }()
            async let signIn: Void? = {
                order.withLock { $0.append("signIn") }
                return try? await session.signIn(credential)
            }()
            _ = await (signOut, signIn)
            try await world.sleep(.seconds(10))
            // Whichever was called last has counted last: in between is no suspension.
            let isSignedIn = order.withLock { $0.last } == "signIn"
            let stored = try await world.stored(session)
            #expect(session.isSignedIn == isSignedIn)
            #expect(stored?.credential.accessToken == (isSignedIn ? "bert-a1" : nil))
            #expect(session.header[.authorization] == (isSignedIn ? "Bearer bert-a1" : nil))
        }
    }

    @Test("the errors of finish() are those of the sign-out")
    func finishedWithError() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.server.transport.on(.post, "/revoke") { _, _ in
                .fail(.notConnectedToInternet, delivery: .notSent)
            }
            let signOut = session.signOutNow()
            let error = await EndpointFixture.error { () async throws(SessionError) in try await signOut.finish() }
            #expect(error?.kind == .notRevoked)
        }
    }

    @Test("an observer may sign the user out, whatever it is told about", arguments: [false, true])
    func observer(isElsewhere: Bool) async throws {
        try await SessionWorld.run { world in
            let session = Locked<OAuthSession?>(nil)
            let observer = SigningOut { session.withLock { $0 }?.signOutNow() }
            let here = world.process(observer: observer)
            session.withLock { $0 = here }
            try await here.signIn(world.server.signIn("anna", at: world.date))
            try await world.sleep(.seconds(3_600))
            if isElsewhere {
                async let call = world.call(here)
                try await world.process().signIn(world.server.signIn("bert", at: world.date))
                _ = await call
            } else {
                _ = await world.call(here)
            }
            // A user who has signed in elsewhere is adopted without a refresh, and so in silence.
            #expect(observer.count.withLock { $0 } > 0 || isElsewhere)
            #expect(!here.isSignedIn || isElsewhere)
            session.withLock { $0 = nil }
        }
    }
}

/// Signs out as soon as it hears of anything.
private final class SigningOut: CallObserver {
    let count = Locked(0)
    private let signOut: @Sendable () -> Void

    init(_ signOut: @escaping @Sendable () -> Void) {
        self.signOut = signOut
    }

    func observe(_ event: CallEvent) {
        count.withLock { $0 += 1 }
        signOut()
    }
}
