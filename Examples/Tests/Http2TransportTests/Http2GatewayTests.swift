import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("The suites of every transport over HTTP/2", .timeLimit(.minutes(10)), .whereAvailable)
struct Http2GatewayTests {
    @Test("send everything over it but what is read as it arrives, and streams")
    func version() async throws {
        let script = ConformanceScript()
        try await ScriptedServer.run {
            try await script.serve($0)
        } whileOpen: { server in
            let url = server.url.appendingPathComponent("echo")
            let transport = TransportUnderTest.make()
            let body = HttpBody.Payload.data(Data("body".utf8))
            for (method, body) in [(HttpMethod.get, .empty), (.post, .empty), (.post, body), (.put, body)] {
                let answer = try await send(method, url, body: body, through: transport)
                #expect(answer.status == 200)
                #expect(answer.header[Http2Gateway.versionField] == "2")
            }
            let read = try await stream(.get, url, through: transport)
            #expect(read.header[Http2Gateway.versionField] == nil)
            _ = try await read.body.text
        }
    }
}
