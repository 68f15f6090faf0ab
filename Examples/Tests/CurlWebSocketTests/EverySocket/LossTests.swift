import Foundation
import Nautilus
import NautilusTesting
import ScriptedSockets
import Testing

@Suite("The next connection after a lost one", .whereAvailable, .timeLimit(.minutes(10)))
struct LossTests {
    @Test("a socket that is cut within a frame reconnects after the backoff's delay, on the service's clock")
    func cut() async throws {
        let connections = Shared(0)
        try await ScriptedServer.run { connection in
            let number = connections.next()
            try await connection.acceptSocket(then: .text(number == 1 ? "first" : "second"))
            if number == 1 {
                try await connection.write(RawFrame.text("cut in the middle").bytes.prefix(9))
            } else {
                _ = await connection.readToEnd()
            }
        } whileOpen: { server in
            let clock = ManualClock()
            let url = server.url(scheme: "ws", host: "127.0.0.1").absoluteString
            let service = ChatService(url, retrierFactory: ChatService.backoff(.seconds(5)), clock: clock)
            let chat = try await Chat().schedule(with: service)
            let reading = Task {
                var texts = chat.makeAsyncIterator()
                return [try await texts.next(), try await texts.next()]
            }
            try await clock.waitForSleepers(count: 1)
            #expect(clock.sleeps == [.seconds(5)])
            #expect(await server.connectionCount == 1)
            clock.advance(by: .seconds(5))
            #expect(try await reading.value == ["first", "second"])
            #expect(await server.connectionCount == 2)
        }
    }

    @Test("a message that was under way is not sent again: its sender hears that it may have arrived")
    func underWay() async throws {
        let (connections, heard) = (Shared(0), Heard())
        try await ScriptedServer.run { connection in
            let isFirst = connections.next() == 1
            try await connection.acceptSocket()
            if isFirst {
                // More than the system holds on its way, so that its sender still waits.
                _ = try await connection.read(1)
                return await connection.reset()
            }
            await heard.add(try await connection.readFrame())
            try await connection.write(.text("hello"))
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let url = server.url(scheme: "ws", host: "127.0.0.1").absoluteString
            let chat = try await Chat().schedule(with: ChatService(url))
            let message = String(repeating: "a", count: 16 * 1_048_576)
            let error = await #expect(throws: HttpError.self) { try await chat.send(message) }
            #expect(error?.delivery == .maybeExecuted)
            // A message that is not begun yet waits for the next connection.
            try await chat.send("again")
            var texts = chat.makeAsyncIterator()
            #expect(try await texts.next() == "hello")
            #expect(await heard.frames.map(\.text) == ["again"])
            #expect(chat.connectionCount == 2)
        }
    }
}

extension Shared<Int> {
    /// Counts, from 1.
    fileprivate func next() -> Int {
        withLock {
            $0 += 1
            return $0
        }
    }
}
