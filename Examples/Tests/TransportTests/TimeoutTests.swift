import Foundation
import Nautilus
import NautilusURLSession
import ScriptedSockets
import Testing

@Suite("The timeout of a request with URLSession", .timeLimit(.minutes(10)))
struct TimeoutTests {
    // On Linux, Foundation's own would end the first at once, and the second half a second early.
    @Test("fractions of a second count", arguments: [500, 1500])
    func fraction(milliseconds: Int) async throws {
        let timeout = Duration.milliseconds(milliseconds)
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.hang()
        } whileOpen: { server in
            let service = AnyHttpService(apiUrl: server.url.absoluteString, transport: URLSessionTransport())
            let error = await #expect(throws: HttpError.self) {
                try await Probe(timeout: timeout).schedule(with: service)
            }
            #expect(error?.kind == .timeout(timeout))
            #expect(error?.delivery == .maybeExecuted)
            let duration = try #require(error?.trace.duration)
            #expect(duration >= timeout)
            #expect(duration < .seconds(60))
        }
    }
}
