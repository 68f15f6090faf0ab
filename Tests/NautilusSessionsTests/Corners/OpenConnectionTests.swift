import Foundation
import Nautilus
import NautilusSessions
import NautilusStreams
import NautilusTesting
import TestSupport
import Testing

/// A process that only reads what comes asks for no credential, and so hears of no other process by its calls.
@Suite("Open connections of a user who has left in another process")
struct OpenConnectionTests {
    private struct Chat: StreamRequest {
        typealias Message = String
        typealias Result = String
        var route: HttpRoute { ["chat"] }
    }

    private struct Feed: Request {
        typealias Result = HttpBodyStream
        var route: HttpRoute { ["feed"] }
    }

    /// How the user leaves.
    enum Leaving: CaseIterable, Sendable {
        case signOut, nextUser, expiry

        func happen(_ world: TokenWorld, in process: Session<ApiToken>) async throws {
            switch self {
            case .signOut: try await process.signOut()
            case .nextUser: try await process.signIn(world.server.signIn("bert", at: world.date))
            case .expiry:
                world.server.endSessions()
                #expect(await world.call(process).token == nil)
            }
        }
    }

    private func service(
        _ world: TokenWorld,
        _ session: Session<ApiToken>,
        sockets: ScriptedWebSocketTransport? = nil
    ) -> AnyHttpService<HttpError> {
        world.api.with {
            $0.retrierFactory = session.authorization
            if let sockets { $0.webSocketTransport = sockets }
        }
    }

    private func error(_ work: () async throws -> Any?) async -> RefreshError? {
        do {
            _ = try await work()
            return nil
        } catch {
            return (error as? HttpError)?.underlying as? RefreshError
        }
    }

    private func isExpected(_ error: RefreshError?, after leaving: Leaving) -> Bool {
        switch (leaving, error) {
        case (.signOut, .signedOut?), (.nextUser, .superseded?), (.expiry, .sessionExpired?): true
        default: false
        }
    }

    @Test(
        "a socket is closed by the first message that comes, and a second message never does",
        arguments: Leaving.allCases
    )
    func receiving(leaving: Leaving) async throws {
        try await TokenWorld.run { world in
            let (here, there) = (try await world.signedIn(), world.process())
            try await there.restore()
            let closed = Locked(false)
            let sockets = ScriptedWebSocketTransport(
                .accept { socket in
                    defer { closed.withLock { $0 = true } }
                    for number in 1... {
                        try await socket.send(.text("\(number)"))
                        try await world.sleep(.seconds(10))
                    }
                }
            )
            let chat = try await Chat().schedule(with: service(world, here, sockets: sockets))
            var messages = chat.makeAsyncIterator()
            #expect(try await messages.next() == "1")
            try await world.sleep(.seconds(5))
            try await leaving.happen(world, in: there)
            #expect(try await messages.next() == "2")
            #expect(isExpected(await error { try await messages.next() }, after: leaving))
            try await world.sleep(.seconds(10))
            #expect(closed.withLock { $0 })
            #expect(sockets.requests.count == 1)
        }
    }

    @Test("the first message sent ends a socket whose user has left elsewhere", arguments: Leaving.allCases)
    func sending(leaving: Leaving) async throws {
        try await TokenWorld.run { world in
            let (here, there) = (try await world.signedIn(), world.process())
            try await there.restore()
            let heard = Locked<[WebSocketMessage]>([])
            let sockets = ScriptedWebSocketTransport(
                .accept { socket in
                    while true {
                        let message = try await socket.receive()
                        heard.withLock { $0.append(message) }
                    }
                }
            )
            let chat = try await Chat().schedule(with: service(world, here, sockets: sockets))
            try await leaving.happen(world, in: there)
            try await world.sleep(.seconds(1))
            try await chat.send("1")
            try await world.sleep(.seconds(1))
            #expect(isExpected(await error { try await chat.send("2") }, after: leaving))
            #expect(heard.withLock { $0 } == [.text("1")])
        }
    }

    @Test("a feed ends with the first event that comes", arguments: Leaving.allCases)
    func feed(leaving: Leaving) async throws {
        try await TokenWorld.run { world in
            let (here, there) = (try await world.signedIn(), world.process())
            try await there.restore()
            let event = Data("data: 1\n\n".utf8)
            world.server.transport.on(.get, "/feed") { _, _ in
                .chunks(
                    header: [.contentType: "text/event-stream"],
                    Array(repeating: event, count: 5),
                    pause: .seconds(10)
                )
            }
            var events = Feed().events(with: service(world, here)).makeAsyncIterator()
            _ = try await events.next()
            try await world.sleep(.seconds(5))
            try await leaving.happen(world, in: there)
            _ = try await events.next()
            #expect(isExpected(await error { try await events.next() }, after: leaving))
        }
    }

    @Test("a message a second has the store looked at, and more do not")
    func rate() async throws {
        try await TokenWorld.run { world in
            let store = CountingStore(base: world.store)
            let session = world.process(store: store)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            let sockets = ScriptedWebSocketTransport(
                .accept { socket in
                    for number in 1...1000 {
                        try await socket.send(.text("\(number)"))
                        try await world.sleep(.milliseconds(10))
                    }
                    socket.close(.normalClosure)
                }
            )
            let chat = try await Chat().schedule(with: service(world, session, sockets: sockets))
            // The first second has had its look when the socket was opened.
            let before = store.looks.withLock { $0 }
            var count = 0
            for try await _ in chat { count += 1 }
            #expect(count == 1000)
            #expect(store.looks.withLock { $0 } - before == 9)
        }
    }

    @Test("a store that hangs holds up no message")
    func hanging() async throws {
        try await TokenWorld.run { world in
            let store = CountingStore(base: world.store)
            let session = world.process(store: store)
            try await session.signIn(world.server.signIn("anna", at: world.date))
            let sockets = ScriptedWebSocketTransport(
                .accept { socket in
                    for number in 1...5 { try await socket.send(.text("\(number)")) }
                    socket.close(.normalClosure)
                }
            )
            let chat = try await Chat().schedule(with: service(world, session, sockets: sockets))
            store.pause.withLock { $0 = world.clock }
            let start = world.clock.now
            for try await _ in chat {}
            #expect(world.clock.now == start)
        }
    }
}

/// A store that counts its looks, and may take a thousand seconds for each.
private struct CountingStore: StoreInFront {
    let base: MemoryStore
    let looks = Locked(0)
    let pause = Locked<ManualClock?>(nil)

    func pass(_ operation: StoreOperation) async throws {
        guard operation == .version else { return }
        looks.withLock { $0 += 1 }
        try await pause.withLock { $0 }?.sleep(for: .seconds(1000))
    }
}
