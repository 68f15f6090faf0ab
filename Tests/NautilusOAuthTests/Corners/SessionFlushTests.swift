import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import Testing

@Suite("OAuthSession: before a process ends")
struct SessionFlushTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let reply = ["access_token": "new", "refresh_token": "next", "token_type": "Bearer"]

    /// A session whose refresh takes two seconds.
    private static func session(_ store: MemoryStore, _ clock: ManualClock) -> OAuthSession {
        let transport = ScriptedTransport(.delay(.seconds(2), then: .json(reply)), clock: clock)
        let endpoint = TokenEndpoint(
            server: AuthorizationServer(issuer: "https://id.test", tokenEndpoint: "https://id.test/token"),
            client: OAuthClient(id: "app"),
            transport: transport,
            clock: clock,
            wallClock: { now }
        )
        return OAuthSession(endpoint: endpoint, store: store)
    }

    private static func credential(lifetime: Duration) -> OAuthCredential {
        OAuthCredential(accessToken: "old", refreshToken: "first", lifetime: lifetime, receivedAt: now)
    }

    @Test("a refresh whose call was cancelled is waited for, and what it brings is saved")
    func cancelledCall() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        try await Simulation().run { simulation in
            let (clock, store) = (simulation.clock, MemoryStore())
            let session = Self.session(store, clock)
            try await session.signIn(Self.credential(lifetime: .zero))
            let call = simulation.task { try await session.credential() }
            try await clock.sleep(for: .seconds(1))
            call.cancel()
            _ = await call.result
            try await session.flush()
            #expect(store.load(session.key)?.credential.refreshToken == "next")
            #expect(clock.now.offset == .seconds(2))
        }
    }

    @Test("a refresh in the background of a call that has succeeded is waited for, too")
    func background() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        try await Simulation().run { simulation in
            let (clock, store) = (simulation.clock, MemoryStore())
            let session = Self.session(store, clock)
            try await session.signIn(Self.credential(lifetime: .seconds(100)))
            try await clock.sleep(for: .seconds(95))
            #expect(try await session.credential().credential.accessToken == "old")
            try await session.flush()
            #expect(store.load(session.key)?.credential.accessToken == "new")
        }
    }

    @Test("a flush that nobody waits for any more ends at once, and the refresh goes on")
    func cancelledFlush() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        try await Simulation().run { simulation in
            let (clock, store) = (simulation.clock, MemoryStore())
            let session = Self.session(store, clock)
            try await session.signIn(Self.credential(lifetime: .zero))
            let call = simulation.task { try await session.credential() }
            let flush = simulation.task { try await session.flush() }
            try await clock.sleep(for: .seconds(1))
            flush.cancel()
            let error = await #expect(throws: SessionError.self) { try await flush.value }
            #expect(error?.kind == .cancelled)
            #expect(try await call.value.credential.accessToken == "new")
        }
    }
}
