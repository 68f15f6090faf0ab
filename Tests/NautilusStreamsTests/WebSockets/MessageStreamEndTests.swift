import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("A web socket: closed, lost and replaced", .endsInTime)
struct MessageStreamEndTests: WebSocketSuite {
    let clock = ManualClock()

    @Test("a normal closure of the server ends the messages, and sending fails", arguments: [1000, 1005] as [UInt16])
    func normalClosure(code: UInt16) async throws {
        let transport = ScriptedWebSocketTransport(
            .accept { socket in
                try await socket.send(.text("last"))
                socket.close(WebSocketClosure.Code(rawValue: code))
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
        "the codes of RFC 6455 §7.4 that lead to another connection do so, and no others",
        arguments: [
            (1001, true), (1002, false), (1003, false), (1006, true), (1007, false), (1008, false), (1009, false),
            (1010, false), (1011, true), (1012, true), (1013, true), (1014, true), (1015, false), (3000, false),
            (4999, false),
        ] as [(UInt16, Bool)]
    )
    func codes(code: UInt16, reconnects: Bool) async throws {
        let code = WebSocketClosure.Code(rawValue: code)
        let transport = ScriptedWebSocketTransport(.accept { $0.close(code) }, Self.greeting)
        let chat = try await Chat().schedule(with: service(transport))
        var lines = chat.makeAsyncIterator()
        if reconnects {
            #expect(try await lines.next() == "hello")
            #expect(chat.connectionCount == 2)
        } else {
            let error = await error { _ = try await lines.next() }
            #expect(error?.underlying as? WebSocketClosure == WebSocketClosure(code))
            #expect(error?.request?.method == .get)
        }
        #expect(transport.requests.count == (reconnects ? 2 : 1))
    }

    static let greeting = ScriptedWebSocketTransport.Opening.accept { socket in
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
                // The second message queues when it breaks.
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

    @Test(
        "messages that have come are all read, even if a sender notices first that the connection is gone",
        arguments: [0, 1]
    )
    func unread(readBefore: Int) async throws {
        let transport = ScriptedWebSocketTransport(
            .accept { socket in while true { _ = try await socket.receive() } },
            Self.greeting,
            capacity: 10
        )
        let chat = try await Chat().schedule(with: service(transport))
        let socket = try #require(transport.sockets.first)
        for number in 0..<10 { try await socket.send(.text("\(number)")) }
        var lines = chat.makeAsyncIterator()
        var texts: [String] = []
        for _ in 0..<readBefore { try await texts.append(lines.next() ?? "none") }
        socket.drop()
        let error = await error { try await chat.send("a") }
        #expect(error?.delivery == .maybeExecuted)
        while chat.connectionCount < 2 { await Task.yield() }
        while texts.count < 11, texts.last != "hello" { try await texts.append(lines.next() ?? "none") }
        #expect(texts == (0..<10).map { "\($0)" } + ["hello"])
    }

    @Test("closing it ends the messages, also those of a connection that a sender has found gone")
    func closedUnread() async throws {
        let transport = ScriptedWebSocketTransport(
            .accept { socket in while true { _ = try await socket.receive() } },
            Self.greeting
        )
        let chat = try await Chat().schedule(with: service(transport))
        let socket = try #require(transport.sockets.first)
        try await socket.send(.text("unread"))
        socket.drop()
        _ = await error { try await chat.send("a") }
        await chat.close()
        var lines = chat.makeAsyncIterator()
        #expect(try await lines.next() == nil)
    }

    @Test("a message that was not begun when the connection broke off goes over the next one")
    func notBegun() async throws {
        // There is no reader, so it has not been found out yet that the first connection is gone.
        let transport = ScriptedWebSocketTransport(Self.greeting)
        let service = Service(
            apiUrl: "api.example.com",
            retrierFactory: Self.backoff(),
            webSocketTransport: GoneAtFirst(next: transport),
            clock: clock
        )
        let chat = try await Chat().schedule(with: service)
        try await chat.send("a")
        #expect(chat.connectionCount == 2)
        var lines = chat.makeAsyncIterator()
        #expect(try await lines.next() == "hello")
        #expect(try await lines.next() == "a")
    }

    @Test("connections that bring nothing count for the reconnect limit; one that brings something begins anew")
    func fruitless() async throws {
        let useless = ScriptedWebSocketTransport.Opening.accept { $0.drop() }
        let useful = ScriptedWebSocketTransport.Opening.accept { socket in
            try await socket.send(.text("a"))
            socket.drop()
        }
        // Two tries, each time: the useful one makes room for two more.
        let transport = ScriptedWebSocketTransport(useless, useless, useful, useless, useless, useless)
        // The pace begins at once.
        let chat = try await drawing(0, on: clock) {
            try await Chat().schedule(with: service(transport), reconnectLimit: .attempts(2))
        }
        var lines = chat.makeAsyncIterator()
        #expect(try await lines.next() == "a")
        let error = await error {
            var rest = chat.makeAsyncIterator()
            _ = try await rest.next()
        }
        #expect(error?.kind == .transport(.networkConnectionLost))
        #expect(transport.requests.count == 5)
        #expect(chat.connectionCount == 0)
    }

    @Test("without a retrier, a connection that breaks off is the end")
    func withoutRetrier() async throws {
        let transport = ScriptedWebSocketTransport(.accept { $0.drop() })
        let chat = try await Chat().schedule(with: service(transport, retrierFactory: .never))
        var lines = chat.makeAsyncIterator()
        let error = await error { _ = try await lines.next() }
        #expect(error?.kind == .transport(.networkConnectionLost))
        #expect(transport.requests.count == 1)
        // The trace tells which retrier has refused another one, and which request it was about.
        #expect(error?.isReconnect == true)
        #expect(error?.request?.path == "/v1/chat")
        #expect(error?.trace.attempts.count == 1)
        #expect(
            error?.trace.attempts.first?.decision == .init(retrier: "NilRetrier", action: .stop, reason: nil)
        )
        #expect(error?.trace.exchanges.map(\.status) == [101])
    }

    @Test(
        "C4: connections that the server ends in order cost no budget, and follow one another a second apart after five"
    )
    func orderly() async throws {
        let useful = ScriptedWebSocketTransport.Opening.accept { socket in
            try await socket.send(.text("a"))
            socket.close(.goingAway)
        }
        let transport = ScriptedWebSocketTransport(
            useful,
            useful,
            useful,
            useful,
            useful,
            useful,
            useful,
            useful,
            useful,
            useful
        )
        let budget = TokenBucketBudget(capacity: 10, depositOfSuccess: 0)
        let factory = BackoffRetrier.factory(
            .standard.with {
                $0.backoff = .constant(.zero)
                $0.maxAttempts = 2
                $0.budget = .shared(budget)
            }
        )
        // The pace begins at once.
        let chat = try await drawing(0, on: clock) {
            try await Chat().schedule(with: service(transport, retrierFactory: factory))
        }
        let reading = Task {
            var lines = chat.makeAsyncIterator()
            for _ in 0..<10 {
                let line = try await lines.next()
                #expect(line == "a")
            }
        }
        for count in 5..<10 {
            try await clock.waitForSleepers(count: 1)
            #expect(transport.requests.count == count)
            clock.advance(by: .seconds(1))
        }
        try await reading.value
        #expect(clock.now.offset == .seconds(5))
        #expect(budget.balance == 10)
    }

    @Test("C4: an empty budget and a single attempt end no stream, whether its connections serve or not")
    func emptyBudget() async throws {
        let transport = ScriptedWebSocketTransport(.accept { $0.drop() }, .accept { $0.drop() }, Self.greeting)
        let budget = RetryBudgetScope.perOrigin(in: OriginBudgets { _ in TokenBucketBudget(capacity: 0) })
        let factory = BackoffRetrier.factory(
            .standard.with {
                $0.backoff = .constant(.zero)
                $0.maxAttempts = 1
                $0.budget = budget
            }
        )
        let chat = try await Chat().schedule(with: service(transport, retrierFactory: factory))
        var lines = chat.makeAsyncIterator()
        #expect(try await lines.next() == "hello")
        #expect(transport.requests.count == 3)
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

}
