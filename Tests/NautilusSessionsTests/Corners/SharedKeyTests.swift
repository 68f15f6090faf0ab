import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("Two environments under one key")
struct SharedKeyTests {
    private struct World: SimulatedWorld {
        let clock: ManualClock
        let server: ScriptedTransport
        private let store = MemoryStore()

        init(_ simulation: Simulated) {
            clock = simulation.clock
            server = ScriptedTransport(.status(204), afterLast: .repeat, clock: clock)
        }

        func session(_ origins: CredentialOrigins) -> Session<BearerToken> {
            let rules = SessionRules.bearer { _ in throw RefreshError.Terminal("never refreshed") }
            return Session(key: CredentialKey(issuer: "a"), rules: rules, store: store, origins: origins, clock: clock)
        }

        func call(_ host: String, _ session: Session<BearerToken>) async throws {
            let service = AnyHttpService(
                apiUrl: host,
                retrierFactory: session.retrierFactory,
                transport: server,
                clock: clock
            )
            try await AnyRequest(.get, ["notes"]).schedule(with: service)
        }

        /// Where credentials have gone.
        var hosts: [String?] { server.attempts.filter { $0.header[.authorization] != nil }.map(\.request.url.host) }
    }

    @Test(
        "the credential of one environment is not sent to the other, though both sessions find it",
        arguments: [
            (CredentialOrigins.first, CredentialOrigins.first), (.only("production.test"), .only("staging.test")),
            (.first, .only("staging.test")),
        ]
    )
    func refused(origins: (CredentialOrigins, CredentialOrigins)) async throws {
        try await World.run { world in
            let (production, staging) = (world.session(origins.0), world.session(origins.1))
            try await production.signIn(BearerToken(accessToken: "of-production"))
            try await world.call("production.test", production)
            for _ in 1...2 {
                let error = await #expect(throws: HttpError.self) { try await world.call("staging.test", staging) }
                guard case .foreignOrigin? = error?.underlying as? RefreshError else { throw Unexpected(error: error) }
            }
            try await world.call("production.test", production)
            #expect(world.hosts == ["production.test", "production.test"])
            // Whoever signs in there takes the place of the other, as under one key.
            try await staging.signIn(BearerToken(accessToken: "of-staging"))
            try await world.call("staging.test", staging)
            #expect(world.hosts.last == "staging.test")
        }
    }

    @Test("a credential under one key is sent to both environments where one of them names both")
    func named() async throws {
        try await World.run { world in
            let both = CredentialOrigins.only("old.test", "new.test")
            let (old, new) = (world.session(.first), world.session(both))
            try await old.signIn(BearerToken(accessToken: "t"))
            try await world.call("old.test", old)
            try await world.call("new.test", new)
            try await world.call("old.test", new)
            #expect(world.hosts == ["old.test", "new.test", "old.test"])
        }
    }

    private struct Unexpected: Error {
        let error: HttpError?
    }
}
