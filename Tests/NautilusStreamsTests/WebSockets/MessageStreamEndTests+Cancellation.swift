import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

extension MessageStreamEndTests {
    @Test("a cancelled reader ends at once and closes it; so does releasing it")
    func cancellation() async throws {
        let transport = ScriptedWebSocketTransport(Self.echo, Self.echo)
        let chat = try await Chat().schedule(with: service(transport))
        let reading = Task {
            var lines = chat.makeAsyncIterator()
            return try await lines.next()
        }
        reading.cancel()
        let end = await #expect(throws: HttpError.self) { _ = try await reading.value }
        #expect(end?.kind == .cancelled)
        #expect(transport.sockets[0].closure?.code == .goingAway)

        var other: MessageStream? = try await Chat().schedule(with: service(transport))
        #expect(other?.connectionCount == 1)
        other = nil
        // The task that would replace the connection lets go of it.
        while transport.sockets[1].closure == nil { await Task.yield() }
        #expect(transport.sockets[1].closure?.code == .goingAway)
    }

    @Test("cancelling while it is being opened, or replaced, ends the wait at once")
    func cancelledOpening() async throws {
        let transport = ScriptedWebSocketTransport(.hang, .accept { $0.drop() }, .hang)
        let opening = Task { _ = try await Chat().schedule(with: service(transport)) }
        while transport.requests.isEmpty { await Task.yield() }
        opening.cancel()
        let failure = await error { try await opening.value }
        #expect(failure?.kind == .cancelled)

        let chat = try await Chat().schedule(with: service(transport))
        let reading = Task {
            var lines = chat.makeAsyncIterator()
            return try await lines.next()
        }
        while transport.requests.count < 3 { await Task.yield() }
        reading.cancel()
        let end = await #expect(throws: HttpError.self) { _ = try await reading.value }
        #expect(end?.kind == .cancelled)
    }

    @Test("a slow reader holds up the server, and a slow server the sender")
    func backPressure() async throws {
        let sent = Locked(0)
        let transport = ScriptedWebSocketTransport(
            .accept { socket in
                for number in 0..<100 {
                    try await socket.send(.text("\(number)"))
                    sent.withLock { $0 += 1 }
                }
            },
            capacity: 3
        )
        let chat = try await Chat().schedule(with: service(transport))
        var lines = chat.makeAsyncIterator()
        for number in 0..<100 {
            #expect(try await lines.next() == "\(number)")
            // The messages that the socket holds, and the one that has just been taken.
            #expect(sent.withLock { $0 } <= number + 4)
        }
        #expect(try await lines.next() == nil)
    }

    @Test("no description shows a message or the server's reason")
    func secrets() {
        let messages = [WebSocketMessage.text("hunter2"), .data(Data("hunter2".utf8))]
        var text = ""
        dump((messages, WebSocketClosure(4001, reason: "hunter2")), to: &text)
        text += "\(messages) \(WebSocketClosure(4001, reason: "hunter2"))"
        text += "\(HttpError(.custom, stage: .send, underlying: WebSocketClosure(4001, reason: "hunter2")))"
        #expect(!text.contains("hunter2"))
        #expect(text.contains("4001"))
    }
}
