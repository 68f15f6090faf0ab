import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

/// A credential as many are written: when it came is not stored.
private struct TimedToken: Codable, Equatable, Sendable {
    enum CodingKeys: CodingKey { case value }

    let value: String
    /// Another one with each decoding.
    var received = UUID()
}

@Suite("A credential that no two decodings make the same")
struct UnstableCredentialTests {
    private func session(_ store: any CredentialStore, _ world: TokenWorld) -> Session<TimedToken> {
        let rules = SessionRules<TimedToken>(
            authorize: { $1.header["X-Api-Token"] = $0.value },
            refresh: { token in
                let sent = ApiToken(value: token.value, expires: world.date)
                return TimedToken(value: try await SendToken(token: sent).schedule(with: world.api))
            }
        )
        return Session(key: world.key, rules: rules, store: store, clock: world.clock, random: world.random)
    }

    private func call(_ session: Session<TimedToken>, _ world: TokenWorld) async -> String? {
        await GetNotes().result(with: world.api.with { $0.retrierFactory = session.authorization }).token
    }

    @Test("a credential that decodes differently each time is refreshed once for all processes")
    func refresh() async throws {
        try await TokenWorld.run { world in
            let (session, other) = (session(world.store, world), session(world.store, world))
            try await session.signIn(TimedToken(value: world.server.signIn("anna", at: world.date).value))
            #expect(await call(session, world) == "anna-1")
            #expect(await call(other, world) == "anna-1")
            world.server.reject("anna-1")
            #expect(await call(session, world) == "anna-2")
            #expect(await call(other, world) == "anna-2")
            #expect(await call(session, world) == "anna-2")
            world.server.reject("anna-2")
            #expect(await call(other, world) == "anna-3")
            #expect(await call(session, world) == "anna-3")
            #expect(world.server.refreshes == ["anna-1", "anna-2"])
        }
    }

    @Test("a credential that decodes differently each time is ended for all when the server refuses to refresh it")
    func end() async throws {
        try await TokenWorld.run { world in
            let session = session(world.store, world)
            try await session.signIn(TimedToken(value: world.server.signIn("anna", at: world.date).value))
            world.server.endSessions()
            #expect(await call(session, world) == nil)
            #expect(!session.isSignedIn)
            #expect(world.store.load(world.key)?.hasExpired == true)
        }
    }
}
