import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Calls that continue one another, begun before anything is known of the session")
struct UnknownSessionTests {
    private struct Foreign: Request {
        typealias Result = String
        var route: HttpRoute { [] }
        var url: (any UrlConvertible)? { "files.example.org/a" }
    }

    @Test("calls begun before the session is known go on as the signed-in user, and end with that session")
    func foundLater() async throws {
        try await simulate { simulation in
            let (world, clock) = (OneSessionWorld(simulation, signedIn: nil), simulation.clock)
            let transport = ScriptedTransport(.status(200), afterLast: .repeat, clock: clock)
            let first = Foreign().bound(to: world.service(transport))
            _ = try await first.run()
            world.coordinator.adopt(.signedIn(Token(number: 1)), since: world.coordinator.epoch)
            _ = try await first.continued(with: Ping.get).run()
            #expect(transport.attempts.map { $0.header[.authorization] } == [nil, "Bearer token-1"])
            let start = clock.now.offset
            async let work: Void? = try? first.sessions.wait { try await clock.sleep(for: .seconds(60)) }
            try await clock.sleep(for: .seconds(1))
            world.coordinator.signOut()
            #expect(await work == nil)
            #expect(clock.now.offset - start == .seconds(1))
            #expect(first.sessions.end?.requiresSignIn == true)
        }
    }

    @Test("calls begun before the session is known do not go on as a user who signs in later")
    func signedInLater() async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation, signedIn: nil)
            let transport = ScriptedTransport(.status(200), afterLast: .repeat, clock: simulation.clock)
            let first = Foreign().bound(to: world.service(transport))
            _ = try await first.run()
            world.coordinator.signIn(Token(number: 2))
            await #expect(throws: HttpError.self) { try await first.continued(with: Ping.get).run() }
            #expect(transport.count == 1)
        }
    }
}
