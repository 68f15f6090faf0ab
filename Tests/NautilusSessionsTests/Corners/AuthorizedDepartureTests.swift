import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("A sign-out between the authorization and the wire")
struct AuthorizedDepartureTests {
    /// Looks at each request in the moment in which it is handed over.
    private struct Entry: HttpTransport {
        let base: ScriptedTransport
        let look: @Sendable (HttpRequest) -> Void

        func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
            look(request)
            return try await base.send(request, context: context)
        }
    }

    @Test(
        "nothing is sent with the credential once the user has left, however many waited for it",
        arguments: [0, 1, 7]
    )
    func refreshed(timeout seconds: Int) async throws {
        try await forEachSeed(50) { seed in
            let late = try await TokenWorld.run(seed: seed) { world in
                let (hasLeft, late) = (Locked(false), Locked(0))
                let session = try await world.signedIn()
                try await world.sleep(.seconds(3600))
                let service = world.api.with {
                    $0.retrierFactory = session.authorization
                    $0.transport = Entry(base: world.server.transport) { request in
                        let isLate = hasLeft.withLock { $0 } && request.header["X-Api-Token"] == "anna-2"
                        if isLate { late.withLock { $0 += 1 } }
                    }
                    $0.timeout = seconds == 0 ? nil : .seconds(seconds)
                }
                let events = session.events
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<20 { group.addTask { _ = await GetNotes().result(with: service) } }
                    group.addTask {
                        for await event in events {
                            if case .refreshed = event { break }
                        }
                        session.signOutNow()
                        hasLeft.withLock { $0 = true }
                    }
                }
                return late.withLock { $0 }
            }
            #expect(late == 0, "seed \(seed)")
        }
    }

    @Test("a refresh whose answer was lost is not sent once more after a sign-out in another process")
    func refreshSentAgain() async throws {
        try await TokenWorld.run { world in
            let (here, there) = (try await world.signedIn(), world.process())
            try await there.restore()
            try await world.sleep(.seconds(3600))
            world.server.fail(.answerLost)
            world.server.grantGrace()
            async let call = world.call(here)
            try await world.sleep(.milliseconds(200))
            #expect(world.server.refreshes == ["anna-1"])
            let ending = there.signOutNow()
            #expect(await call.isSignedOut)
            try await ending.finish()
            #expect(world.server.refreshes == ["anna-1"])
        }
    }
}
