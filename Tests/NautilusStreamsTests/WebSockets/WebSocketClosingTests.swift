import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

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
        await chat.close(WebSocketClosure.Code(rawValue: code), reason: String(repeating: "x", count: length))
        let sent = code == 1006 ? .normalClosure : WebSocketClosure.Code(rawValue: code)
        let reason = String(repeating: "x", count: sentLength)
        #expect(transport.sockets.first?.closure == WebSocketClosure(sent, reason: reason))
        var lines = chat.makeAsyncIterator()
        #expect(try await lines.next() == nil)
    }

    @Test("a sign-out closes it, and so does the next user's sign-in", arguments: [nil, Token(number: 2)])
    func session(next: Token?) async throws {
        let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: clock) { $0 }
        let (ended, end) = AsyncStream<Void>.makeStream()
        let transport = ScriptedWebSocketTransport(
            .accept { socket in
                defer { end.finish() }
                while true { try await socket.send(socket.receive()) }
            }
        )
        let retrierFactory = AuthorizationRetrier.factory(coordinator)
        let chat = try await Chat().schedule(with: service(transport, retrierFactory: retrierFactory))
        var lines = chat.makeAsyncIterator()
        try await chat.send("a")
        #expect(try await lines.next() == "a")
        // The session goes on with another credential.
        coordinator.replace(try #require(coordinator.current), with: Token(number: 11))
        try await chat.send("b")
        #expect(try await lines.next() == "b")
        if let next { coordinator.signIn(next) } else { coordinator.signOut() }
        let error = await error { _ = try await lines.next() }
        #expect(error?.isSuperseded == (next != nil))
        #expect(error?.requiresSignIn == (next == nil))
        for await _ in ended {}
        #expect(transport.sockets.first?.closure == WebSocketClosure(.goingAway))
        #expect(chat.connectionCount == 0)
    }

    @Test("a sign-out closes it at once, though nothing goes or comes over it")
    func silent() async throws {
        try await simulate { simulation in
            let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: simulation.clock) { $0 }
            let sockets = ScriptedWebSocketTransport(
                .accept { socket in while true { _ = try await socket.receive() } }
            )
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: AuthorizationRetrier.factory(coordinator),
                clock: simulation.clock
            ).with { $0.webSocketTransport = sockets }
            let chat = try await Chat().schedule(with: service)
            coordinator.signOut()
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(sockets.sockets.first?.closure == WebSocketClosure(.goingAway))
            #expect(chat.connectionCount == 0)
        }
    }

    @Test("a sign-out tells a sender that waits for room what has happened")
    func waitingSender() async throws {
        try await simulate { simulation in
            let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: simulation.clock) { $0 }
            let sockets = ScriptedWebSocketTransport(
                .accept { _ in try await simulation.clock.sleep(for: .seconds(3600)) }
            )
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: AuthorizationRetrier.factory(coordinator),
                clock: simulation.clock
            ).with { $0.webSocketTransport = sockets }
            let chat = try await Chat().schedule(with: service)
            try await chat.send("a")
            async let blocked = error { try await chat.send("b") }
            try await simulation.clock.sleep(for: .seconds(1))
            coordinator.signOut()
            let end = await blocked
            #expect(end?.requiresSignIn == true)
            #expect(end?.delivery == .maybeExecuted)
        }
    }

    @Test("a lost web socket is not reopened once the user has signed out")
    func sessionWhileLost() async throws {
        let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: clock) { $0 }
        let transport = ScriptedWebSocketTransport(.accept { $0.drop() }, Self.echo)
        let retrierFactory = AnyRetrierFactory.composed(
            AuthorizationRetrier.factory(coordinator),
            Self.backoff(.seconds(9))
        )
        let chat = try await Chat().schedule(with: service(transport, retrierFactory: retrierFactory))
        let reader = Task {
            var lines = chat.makeAsyncIterator()
            return await error { _ = try await lines.next() }
        }
        try await clock.waitForSleepers(count: 1)
        coordinator.signOut()
        #expect(await reader.value?.requiresSignIn == true)
        clock.advance(by: .seconds(10))
        #expect(transport.requests.count == 1)
    }

    @Test("a connection that replaces a lost one is wanted, unless the end has come first")
    func tooLate() async throws {
        let connection = GoneAtFirst(next: ScriptedWebSocketTransport())
        for endsFirst in [false, true] {
            let link = WebSocketLink(connection)
            let open = try #require(try await link.current())
            link.lose(open, HttpError(.transport(.networkConnectionLost), stage: .send))
            if endsFirst { link.end() }
            // A connection that is not wanted is closed by the task that has opened it.
            #expect(link.reopened(connection) == !endsFirst)
            #expect(link.connectionCount == (endsFirst ? 0 : 2))
        }
    }
}

extension HttpError {
    fileprivate var isSuperseded: Bool {
        if case .superseded? = underlying as? RefreshError { true } else { false }
    }
}
