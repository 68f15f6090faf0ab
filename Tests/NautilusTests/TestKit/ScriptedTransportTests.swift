import Foundation
import Nautilus
import NautilusTesting
import Testing

@Suite("ScriptedTransport")
struct ScriptedTransportTests {
    @Test("replies come in the order of the script")
    func order() async throws {
        let transport = ScriptedTransport(.status(503), .status(503), .json([1]))
        var statuses: [Int] = []
        for _ in 1...3 { statuses.append(try await transport.get("/notes").status) }
        #expect(statuses == [503, 503, 200])
        #expect(transport.count == 3)
    }

    @Test("a cancelled hang ends with CancellationError")
    func hang() async throws {
        let transport = ScriptedTransport(.hang)
        let call = Task { try await transport.get("/notes") }
        try await transport.waitForAttempts(count: 1)
        #expect(transport.inFlightCount == 1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(transport.inFlightCount == 0)
    }
}

extension ScriptedTransport {
    /// Sends one attempt to a made-up server.
    func get(_ path: String, number: Int = 1) async throws -> HttpResponse<Data> {
        let url = try #require(URL(string: "https://api.example.com\(path)"))
        let origin = try #require(HttpOrigin(url))
        return try await send(HttpRequest(url: url), context: AttemptContext(number: number, serviceOrigin: origin))
    }
}
