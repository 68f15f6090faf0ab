import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("Hostile servers that Foundation survives")
struct HostileServerTests {
    // One by one: with a thousand descriptors open, Foundation's `Process` of other tests reads beyond their list.
    @Test(.timeLimit(.minutes(10)), .serialized, arguments: HostileAnswer.all.filter(\.isSurvivedByFoundation))
    func answer(_ answer: HostileAnswer) async throws {
        try await ScriptedServer.run(answer.script) { server in
            do {
                let response = try await send(
                    .post,
                    server.url,
                    through: TransportUnderTest.make(responseLimit: 100_000)
                )
                if case .success(let text) = answer.ending { #expect(response.text == text) }
            } catch is TransportError {
                // Typed, and in time: which kind it is, Foundation decides.
            }
        }
    }
}
