import FlyingFox
import Foundation
import Nautilus
import NautilusStreams
import NautilusTesting
import Testing

@Suite("A stream request to a third-party server", .whereAvailable, .timeLimit(.minutes(10)))
struct MessageTests {
    struct Line: Codable, Hashable, Sendable {
        let text: String
    }

    struct Lines: JsonStreamRequest {
        typealias Message = Line
        typealias Result = Line
        var route: HttpRoute { [] }
        var timeout: Duration? { nil }
    }

    struct Bytes: StreamRequest {
        typealias Message = Data
        typealias Result = Data
        var route: HttpRoute { [] }
        var timeout: Duration? { nil }
    }

    private static let echo: SocketServer.Script = { _, _ in .socket(Echo()) }

    @Test("typed messages go both ways")
    func typed() async throws {
        try await SocketServer.run(Self.echo) { server in
            let lines = try await Lines().schedule(with: ChatService(server.url))
            var iterator = lines.makeAsyncIterator()
            for text in ["a", "é", "\"quoted\""] {
                try await lines.send(Line(text: text))
                #expect(try await iterator.next() == Line(text: text))
            }
        }
    }

    @Test("10 000 messages come in their order")
    func many() async throws {
        try await SocketServer.run(Self.echo) { server in
            let chat = try await Chat().schedule(with: ChatService(server.url))
            let sending = Task {
                for number in 0..<10_000 { try await chat.send("\(number)") }
            }
            var count = 0
            for try await text in chat {
                #expect(text == "\(count)")
                count += 1
                if count == 10_000 { break }
            }
            try await sending.value
            #expect(count == 10_000)
            #expect(chat.connectionCount == 1)
        }
    }

    @Test("a message of 3 MiB goes there and back, in the server's fragments")
    func large() async throws {
        try await SocketServer.run(Self.echo) { server in
            let bytes = try await Bytes().schedule(with: ChatService(server.url))
            let message = Data((0..<3 * 1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try await bytes.send(message)
            var iterator = bytes.makeAsyncIterator()
            let answer = try await iterator.next()
            #expect(answer == message)
        }
    }

    @Test("a ping comes back")
    func ping() async throws {
        try await SocketServer.run(Self.echo) { server in
            let chat = try await Chat().schedule(with: ChatService(server.url))
            for _ in 0..<3 { try await chat.ping() }
            #expect(chat.connectionCount == 1)
        }
    }

    @Test("1000 ends the messages; 4000 is an error with the server's word; after 1011 there is another connection")
    func codes() async throws {
        let speech = { (code: UInt16) -> SocketServer.Script in
            { _, number in
                guard number == 1 else { return .socket(Speech(messages: [.text("again")])) }
                return .socket(Speech(messages: [.text("last"), .close(WSCloseCode(code, reason: "so"))]))
            }
        }
        for code in [1000, 4000, 1011] as [UInt16] {
            try await SocketServer.run(speech(code)) { server in
                let chat = try await Chat().schedule(with: ChatService(server.url))
                var texts = chat.makeAsyncIterator()
                #expect(try await texts.next() == "last")
                switch code {
                case 1000: #expect(try await texts.next() == nil)
                case 4000:
                    let error = await #expect(throws: HttpError.self) { _ = try await texts.next() }
                    #expect(error?.underlying as? WebSocketClosure == WebSocketClosure(4000, reason: "so"))
                default: #expect(try await texts.next() == "again")
                }
                #expect(server.authorizations.count == (code == 1011 ? 2 : 1))
            }
        }
    }

    @Test("closing is agreed on with the server")
    func closing() async throws {
        try await SocketServer.run(Self.echo) { server in
            let chat = try await Chat().schedule(with: ChatService(server.url))
            try await chat.send("a")
            var texts = chat.makeAsyncIterator()
            #expect(try await texts.next() == "a")
            await chat.close()
            #expect(try await texts.next() == nil)
        }
    }
}
