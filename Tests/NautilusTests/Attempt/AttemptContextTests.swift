import Foundation
import Nautilus
import Testing

@Suite("The context of an attempt, in a test of one's own")
struct AttemptContextTests {
    @Test("side requests go to the test; there is no call to make again, and no exchange")
    func ofATest() async throws {
        let url = try #require(URL(string: "https://api.example.com/notes"))
        let origin = try #require(HttpOrigin(url))
        let context = AttemptContext(serviceOrigin: origin) { HttpResponse(status: 202, body: Data(), url: $0.url) }
        #expect(try await context.send(HttpRequest(url: url)).status == 202)
        #expect(context.callAgain == nil)
        #expect(context.exchanges.isEmpty)
        await #expect(throws: AttemptIsOver.self) {
            try await AttemptContext(serviceOrigin: origin).send(HttpRequest(url: url))
        }
    }
}
