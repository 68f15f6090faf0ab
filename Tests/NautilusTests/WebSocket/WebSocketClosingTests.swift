import NautilusTesting
import Testing

@testable import Nautilus

@Suite("A web socket that is closed on this side", .endsInTime)
struct WebSocketClosingTests: WebSocketSuite {
    let clock = ManualClock()

    @Test(
        "the server is told, with a code that may be sent, and a reason that fits its frame (RFC 6455 §5.5)",
        arguments: [(1000, 4, 4), (4001, 123, 123), (1006, 4, 4), (1000, 124, 0)] as [(UInt16, Int, Int)]
    )
    func closing(code: UInt16, length: Int, sentLength: Int) async throws {
        let transport = ScriptedWebSocketTransport(Self.echo)
        let chat = try await Chat().schedule(with: service(transport))
        await chat.close(WebSocketCloseCode(rawValue: code), reason: String(repeating: "x", count: length))
        let sent = code == 1006 ? .normalClosure : WebSocketCloseCode(rawValue: code)
        let reason = String(repeating: "x", count: sentLength)
        #expect(transport.sockets.first?.closure == WebSocketClosure(sent, reason: reason))
        var lines = chat.makeAsyncIterator()
        #expect(try await lines.next() == nil)
    }

    @Test("a connection that replaces a lost one is wanted, unless the end has come first")
    func tooLate() async throws {
        let connection = GoneAtFirst(next: ScriptedWebSocketTransport())
        for endsFirst in [false, true] {
            let link = WebSocketLink(connection)
            let open = try #require(try await link.current())
            link.lose(open, HttpError(.transport(.networkConnectionLost), stage: .send))
            if endsFirst { link.end() }
            // What is not wanted is closed by who has opened it.
            #expect(link.reopened(connection) == !endsFirst)
            #expect(link.connectionCount == (endsFirst ? 0 : 2))
        }
    }
}
