import Foundation
import NautilusTesting
import Testing

@testable import Nautilus

@Suite("A web socket", .timeLimit(.minutes(10)))
struct MessageStreamTests {
    private struct Chat: StreamRequest {
        typealias Message = String
        typealias Result = String
        var route: HttpRoute { ["chat"] }
        var query: HttpQuery { ["room": "7"] }
        var subprotocols: [String] { ["v2.chat", "v1.chat"] }
        var timeout: Duration?
    }

    private struct Point: Codable, Hashable, Sendable {
        let x: Int
    }

    private struct Points: JsonStreamRequest {
        typealias Message = Point
        typealias Result = Point
        var timeout: Duration?
    }

    private let clock = ManualClock()

    private static func backoff(_ delay: Duration = .zero, maxAttempts: Int = 3) -> any RetrierFactory {
        // The budget of the process is for all tests together.
        let backoff = Backoff.constant(delay, jitter: .none)
        return BackoffRetrier.factory(backoff: backoff, maxAttempts: maxAttempts, budget: .unlimited)
    }

    private func service(
        _ transport: ScriptedWebSocketTransport,
        url: String = "api.example.com/v1",
        retrierFactory: any RetrierFactory = backoff()
    ) -> Service {
        Service(apiUrl: url, retrierFactory: retrierFactory, webSocketTransport: transport, clock: clock)
    }

    private struct Service: HttpService {
        let apiUrl: any UrlConvertible
        var header: HttpHeader { ["User-Agent": "Notes/1.0"] }
        let retrierFactory: any RetrierFactory
        let webSocketTransport: any WebSocketTransport
        let clock: any Clock<Duration>
    }

    private static let echo = ScriptedWebSocketTransport.Opening.accept { socket in
        while true { try await socket.send(socket.receive()) }
    }

    private func error(_ body: () async throws -> Void) async -> HttpError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? HttpError
        }
    }

    @Test(
        "it is opened by a GET to the service's URL, with the scheme of web sockets",
        arguments: [
            ("api.example.com/v1", "wss://api.example.com/v1/chat?room=7"),
            ("https://api.example.com", "wss://api.example.com/chat?room=7"),
            ("http://127.0.0.1:8080", "ws://127.0.0.1:8080/chat?room=7"),
            ("wss://api.example.com", "wss://api.example.com/chat?room=7"),
            ("WS://api.example.com", "ws://api.example.com/chat?room=7"),
        ]
    )
    func opening(base: String, url: String) async throws {
        let transport = ScriptedWebSocketTransport(Self.echo)
        _ = try await Chat().schedule(with: service(transport, url: base))
        let request = try #require(transport.requests.first)
        #expect(request.method == .get)
        #expect(request.url.absoluteString == url)
        #expect(request.header[.userAgent] == "Notes/1.0")
        #expect(request.header["Sec-WebSocket-Protocol"] == "v2.chat, v1.chat")
    }

    @Test("messages go both ways, in their order")
    func messages() async throws {
        let chat = try await Chat().schedule(with: service(ScriptedWebSocketTransport(Self.echo)))
        var lines = chat.makeAsyncIterator()
        for text in ["a", "b", "c"] {
            try await chat.send(text)
            #expect(try await lines.next() == text)
        }
    }

    @Test("JSON messages are encoded and decoded; one that does not decode fails alone")
    func json() async throws {
        let transport = ScriptedWebSocketTransport(
            .accept { socket in
                try await socket.send(.text("none"))
                while true { try await socket.send(.data(socket.receive().bytes)) }
            }
        )
        let points = try await Points().schedule(with: service(transport))
        var iterator = points.makeAsyncIterator()
        await #expect(throws: HttpError.self) { _ = try await iterator.next() }
        try await points.send(Point(x: 3))
        #expect(try await iterator.next() == Point(x: 3))
    }

    @Test("a ping reaches the server and comes back")
    func ping() async throws {
        let transport = ScriptedWebSocketTransport(Self.echo)
        let chat = try await Chat().schedule(with: service(transport))
        try await chat.ping()
        #expect(transport.sockets.map(\.pingCount) == [1])
    }

    @Test("a rejected credential is refreshed once, and the socket opened with the new one")
    func refresh() async throws {
        let refreshes = Locked(0)
        let coordinator = RefreshCoordinator(credential: Token(number: 1)) { _ in
            refreshes.withLock { $0 += 1 }
            return Token(number: 2)
        }
        let transport = ScriptedWebSocketTransport(.decline(401), Self.echo)
        let service = service(transport, retrierFactory: AuthorizationRetrier.factory(coordinator))
        let chat = try await Chat().schedule(with: service)
        #expect(refreshes.withLock { $0 } == 1)
        #expect(transport.requests.map { $0.header[.authorization] } == ["Bearer token-1", "Bearer token-2"])
        try await chat.send("a")
    }

    @Test("an opening that fails for a while is repeated; one that is refused is an error")
    func retries() async throws {
        let transport = ScriptedWebSocketTransport(.fail(.cannotConnectToHost), .decline(503), Self.echo)
        _ = try await Chat().schedule(with: service(transport))
        #expect(transport.requests.count == 3)
        let refusing = ScriptedWebSocketTransport(.decline(403))
        let error = await error { _ = try await Chat().schedule(with: service(refusing)) }
        #expect(error?.status == 403)
    }

    @Test("where the platform has no web sockets, an error says so, and what to do")
    func unavailable() async throws {
        let service = AnyHttpService(apiUrl: "api.example.com", transport: ScriptedTransport())
        #if canImport(FoundationNetworking)
            let error = await error { _ = try await Chat().schedule(with: service) }
            #expect(error?.underlying is WebSocketsUnavailable)
            #expect("\(try #require(error))".contains("webSocketTransport"))
        #endif
    }

    @Test("a normal closure of the server ends the messages, and sending fails", arguments: [1000, 1005] as [UInt16])
    func normalClosure(code: UInt16) async throws {
        let transport = ScriptedWebSocketTransport(
            .accept { socket in
                try await socket.send(.text("last"))
                socket.close(WebSocketCloseCode(rawValue: code))
            }
        )
        let chat = try await Chat().schedule(with: service(transport))
        var lines = chat.makeAsyncIterator()
        #expect(try await lines.next() == "last")
        #expect(try await lines.next() == nil)
        let error = await error { try await chat.send("a") }
        #expect(error?.delivery == .notSent)
        #expect(transport.requests.count == 1)
    }

    @Test(
        "which codes lead to another connection (RFC 6455 §7.4)",
        arguments: [
            (1001, true), (1002, false), (1003, false), (1006, true), (1007, false), (1008, false), (1009, false),
            (1010, false), (1011, true), (1012, true), (1013, true), (1014, true), (1015, false), (3000, false),
            (4999, false),
        ] as [(UInt16, Bool)]
    )
    func codes(code: UInt16, reconnects: Bool) async throws {
        let code = WebSocketCloseCode(rawValue: code)
        let transport = ScriptedWebSocketTransport(.accept { $0.close(code) }, Self.greeting)
        let chat = try await Chat().schedule(with: service(transport))
        var lines = chat.makeAsyncIterator()
        if reconnects {
            #expect(try await lines.next() == "hello")
            #expect(chat.connectionCount == 2)
        } else {
            let error = await error { _ = try await lines.next() }
            #expect(error?.underlying as? WebSocketClosure == WebSocketClosure(code))
        }
        #expect(transport.requests.count == (reconnects ? 2 : 1))
    }

    private static let greeting = ScriptedWebSocketTransport.Opening.accept { socket in
        try await socket.send(.text("hello"))
        while true { try await socket.send(socket.receive()) }
    }

    @Test("a connection that breaks off is replaced; the reader reads on, and a sender uses the new one")
    func reconnect() async throws {
        let transport = ScriptedWebSocketTransport(
            .accept { socket in
                try await socket.send(.text("first"))
                socket.drop()
            },
            Self.greeting
        )
        let chat = try await Chat().schedule(with: service(transport))
        var lines = chat.makeAsyncIterator()
        #expect(try await lines.next() == "first")
        #expect(try await lines.next() == "hello")
        try await chat.send("a")
        #expect(try await lines.next() == "a")
    }

    @Test("a message that is being sent when the connection breaks is not sent again: its sender hears of it")
    func inFlight() async throws {
        let transport = ScriptedWebSocketTransport(
            .accept { socket in
                // The second message stands in line when it breaks.
                while socket.pingCount == 0 { await Task.yield() }
                socket.drop()
            },
            Self.greeting
        )
        let chat = try await Chat().schedule(with: service(transport))
        try await chat.send("taken")
        let sending = Task { try await chat.send("in flight") }
        try await chat.ping()
        let error = await error { try await sending.value }
        #expect(error?.delivery == .maybeExecuted)
        var lines = chat.makeAsyncIterator()
        #expect(try await lines.next() == "hello")
        try await chat.send("again")
        // Neither of the first two has come to the new connection.
        #expect(try await lines.next() == "again")
    }

    @Test("connections that bring nothing use up the retrier's attempts; one that brings something begins anew")
    func fruitless() async throws {
        let useless = ScriptedWebSocketTransport.Opening.accept { $0.drop() }
        let useful = ScriptedWebSocketTransport.Opening.accept { socket in
            try await socket.send(.text("a"))
            socket.drop()
        }
        // Two retries, each time: the second useful one makes room for two more.
        let transport = ScriptedWebSocketTransport(useless, useless, useful, useless, useless)
        let chat = try await Chat().schedule(with: service(transport))
        var lines = chat.makeAsyncIterator()
        #expect(try await lines.next() == "a")
        let error = await error { _ = try await lines.next() }
        #expect(error?.kind == .transport(.networkConnectionLost))
        #expect(transport.requests.count == 5)
        #expect(chat.connectionCount == 0)
    }

    @Test("without a retrier, a connection that breaks off is the end")
    func withoutRetrier() async throws {
        let transport = ScriptedWebSocketTransport(.accept { $0.drop() })
        let chat = try await Chat().schedule(with: service(transport, retrierFactory: NilRetrier.factory()))
        var lines = chat.makeAsyncIterator()
        let error = await error { _ = try await lines.next() }
        #expect(error?.kind == .transport(.networkConnectionLost))
        #expect(transport.requests.count == 1)
    }

    @Test("the backoff between two connections is slept on the service's clock")
    func backoff() async throws {
        let transport = ScriptedWebSocketTransport(.accept { $0.drop() }, Self.greeting)
        let chat = try await Chat().schedule(with: service(transport, retrierFactory: Self.backoff(.seconds(5))))
        let reading = Task {
            var lines = chat.makeAsyncIterator()
            return try await lines.next()
        }
        try await clock.waitForSleepers(count: 1)
        #expect(transport.requests.count == 1)
        clock.advance(by: .seconds(5))
        #expect(try await reading.value == "hello")
    }

    @Test("closing it tells the server, with a code that may be sent", arguments: [1000, 4001, 1006] as [UInt16])
    func closing(code: UInt16) async throws {
        let transport = ScriptedWebSocketTransport(Self.echo)
        let chat = try await Chat().schedule(with: service(transport))
        await chat.close(WebSocketCloseCode(rawValue: code), reason: "done")
        let sent = code == 1006 ? .normalClosure : WebSocketCloseCode(rawValue: code)
        #expect(transport.sockets.first?.closure == WebSocketClosure(sent, reason: "done"))
        var lines = chat.makeAsyncIterator()
        #expect(try await lines.next() == nil)
    }

    @Test("a cancelled reader ends at once and closes it; so does releasing it")
    func cancellation() async throws {
        let transport = ScriptedWebSocketTransport(Self.echo, Self.echo)
        let chat = try await Chat().schedule(with: service(transport))
        let reading = Task {
            var lines = chat.makeAsyncIterator()
            return try await lines.next()
        }
        reading.cancel()
        await #expect(throws: CancellationError.self) { _ = try await reading.value }
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
        await #expect(throws: CancellationError.self) { _ = try await reading.value }
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
            // What the socket holds, and the one that has just been taken.
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
