import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusStreams

/// A session may end without a word of this process: in another one, or by the server.
@Suite("What began in a session ends with it, whoever has ended it")
struct SessionEndTests {
    /// How a session ends.
    enum Ending: CaseIterable, Sendable {
        case signOut, signIn, signOutElsewhere, signInElsewhere, expiry, expiryElsewhere

        /// The error of what began in the session.
        var error: String {
            switch self {
            case .expiry, .expiryElsewhere: "sessionExpired"
            case .signOut, .signIn, .signOutElsewhere, .signInElsewhere: "superseded"
            }
        }
    }

    private struct World {
        let coordinator: RefreshCoordinator<Token>
        let clock: ManualClock

        init(_ simulation: Simulated) {
            clock = simulation.clock
            coordinator = RefreshCoordinator(credential: Token(number: 1), clock: clock) { _ in
                throw TerminalRefreshFailure("invalid_grant")
            }
        }

        func service(
            _ transport: ScriptedTransport = ScriptedTransport(),
            sockets: ScriptedWebSocketTransport? = nil
        ) -> AnyHttpService<HttpError> {
            AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: ComposedRetrier.factory(
                    AuthorizationRetrier.factory(coordinator),
                    BackoffRetrier.factory(.atOnce)
                ),
                transport: transport,
                clock: clock
            ).with {
                if let sockets { $0.webSocketTransport = sockets }
            }
        }

        func end(_ ending: Ending) async {
            switch ending {
            case .signOut: coordinator.signOut()
            case .signIn: coordinator.signIn(Token(number: 2))
            case .signOutElsewhere: coordinator.adopt(.signedOut, since: coordinator.epoch)
            case .signInElsewhere: coordinator.adopt(.signedIn(Token(number: 2)), since: coordinator.epoch)
            case .expiry:
                // Another call learns of it.
                guard let grant = coordinator.current else { return }
                _ = try? await coordinator.refresh(rejecting: grant)
            case .expiryElsewhere:
                coordinator.adopt(.expired(TerminalRefreshFailure("ended there")), since: coordinator.epoch)
            }
        }
    }

    @Test("a call that waits for its next attempt ends at once, and sends nothing more", arguments: Ending.allCases)
    func delayedCall(ending: Ending) async throws {
        let (error, time, count) = try await simulate { simulation in
            let world = World(simulation)
            let transport = ScriptedTransport(.status(503, header: [.retryAfter: "30"]), clock: world.clock)
            async let result = Ping().result(with: world.service(transport))
            try await world.clock.sleep(for: .seconds(5))
            await world.end(ending)
            let error = await result.error
            return (error, world.clock.now.offset, transport.count)
        }
        #expect(error?.isSuperseded == (ending.error == "superseded"))
        #expect(error?.requiresSignIn == (ending.error == "sessionExpired"))
        #expect(time == .seconds(5))
        #expect(count == 1)
    }

    @Test(
        "a call that waits for the pause which its origin has ordered ends at once, too",
        arguments: Ending.allCases,
        [Duration.zero, .seconds(3)]
    )
    func pausedCall(ending: Ending, backoff: Duration) async throws {
        let (error, time, count) = try await simulate { simulation in
            let world = World(simulation)
            let transport = ScriptedTransport(.status(503), clock: world.clock)
            let policy = BackoffRetrier.Configuration.atOnce.with {
                $0.backoff = .constant(backoff, jitter: .none)
                $0.gate = world.coordinator
            }
            let service = world.service(transport).with {
                $0.retrierFactory = ComposedRetrier.factory(
                    AuthorizationRetrier.factory(world.coordinator),
                    BackoffRetrier.factory(policy)
                )
            }
            async let result = Ping().result(with: service)
            // Its answer has come, and now another call's, with an order to wait.
            try await transport.waitForAttempts(count: 1)
            world.coordinator.close(try #require(transport.attempts.first?.request.origin), for: .seconds(30))
            try await world.clock.sleep(for: .seconds(backoff == .zero ? 5 : 2))
            await world.end(ending)
            let error = await result.error
            return (error, world.clock.now.offset, transport.count)
        }
        #expect(error?.isSuperseded == (ending.error == "superseded"))
        #expect(error?.requiresSignIn == (ending.error == "sessionExpired"))
        #expect(time == .seconds(backoff == .zero ? 5 : 2))
        #expect(count == 1)
    }

    @Test("a call that carries no credential, to another origin, waits as long as it has to, and is sent again")
    func foreignCall() async throws {
        let starts = try await simulate { simulation in
            let world = World(simulation)
            let transport = ScriptedTransport(
                .status(503, header: [.retryAfter: "30"]),
                .status(200),
                clock: world.clock
            )
            async let result: Void = Foreign().schedule(with: world.service(transport))
            try await world.clock.sleep(for: .seconds(5))
            await world.end(.signOut)
            try await result
            return transport.attempts.map(\.start)
        }
        #expect(starts.count == 2)
        #expect(starts.last.map { $0 >= .seconds(30) } == true)
    }

    private struct Foreign: Request {
        typealias Result = Void
        var url: (any UrlConvertible)? { "files.example.org/a" }
    }

    private static let quiet = ScriptedWebSocketTransport.Opening.accept { socket in
        while true { _ = try await socket.receive() }
    }

    @Test("a web socket whose reader waits is closed", arguments: Ending.allCases)
    func socket(ending: Ending) async throws {
        try await simulate { simulation in
            let world = World(simulation)
            let closed = Counter()
            let sockets = ScriptedWebSocketTransport(
                .accept { socket in
                    defer { closed.increment() }
                    while true { _ = try await socket.receive() }
                }
            )
            let chat = try await ChatStream().schedule(with: world.service(sockets: sockets))
            simulation.start {
                try? await simulation.clock.sleep(for: .seconds(10))
                await world.end(ending)
            }
            #expect(await end { try await chat.next() } == ending.error)
            #expect(simulation.clock.now.offset == .seconds(10))
            #expect(await end { try await chat.send("late") } == ending.error)
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(closed.value == 1)
            #expect(sockets.requests.count == 1)
        }
    }

    @Test("a feed that waits for its next event ends", arguments: Ending.allCases)
    func feed(ending: Ending) async throws {
        try await simulate { simulation in
            let world = World(simulation)
            let event = Data("data: 1\n\n".utf8)
            let script = ScriptedTransport(
                .chunks(header: [.contentType: "text/event-stream"], [event, event], pause: .seconds(100)),
                clock: simulation.clock
            )
            var events = Ping.get.events(with: world.service(script)).makeAsyncIterator()
            _ = try await events.next()
            simulation.start {
                try? await simulation.clock.sleep(for: .seconds(10))
                await world.end(ending)
            }
            #expect(await end { try await events.next() } == ending.error)
            #expect(simulation.clock.now.offset == .seconds(110))
            #expect(script.count == 1)
        }
    }

    @Test("a download ends at once, and leaves no file behind", arguments: Ending.allCases)
    func downloadUnderWay(ending: Ending) async throws {
        let folder = try TemporaryFolder()
        let target = folder.url.appendingPathComponent("invoice.pdf")
        try await simulate { simulation in
            let world = World(simulation)
            let part = Data("part".utf8)
            let script = ScriptedTransport(.chunks([part, part], pause: .seconds(100)), clock: simulation.clock)
            simulation.start {
                try? await simulation.clock.sleep(for: .seconds(10))
                await world.end(ending)
            }
            #expect(await end { try await Ping.get.download(to: target, with: world.service(script)) } == ending.error)
            #expect(simulation.clock.now.offset == .seconds(10))
            #expect(script.count == 1)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    }

    @Test(
        "the message and the event that lie ready are the user's before, and are not delivered",
        arguments: Ending.allCases
    )
    func ready(ending: Ending) async throws {
        for seed in 0..<10 as Range<UInt64> {
            try await simulate(seed: seed) { simulation in
                let world = World(simulation)
                let event = Data("data: 1\n\n".utf8)
                let script = ScriptedTransport(
                    .chunks(header: [.contentType: "text/event-stream"], [event, event]),
                    clock: simulation.clock
                )
                let sockets = ScriptedWebSocketTransport(
                    .accept { socket in
                        for number in 1...3 { try await socket.send(.text("\(number)")) }
                        while true { _ = try await socket.receive() }
                    }
                )
                let service = world.service(script, sockets: sockets)
                let chat = try await ChatStream().schedule(with: service)
                var events = Ping.get.events(with: service).makeAsyncIterator()
                _ = try await events.next()
                #expect(try await chat.next() == "1")
                await world.end(ending)
                #expect(await end { try await chat.next() } == ending.error)
                #expect(await end { try await events.next() } == ending.error)
            }
        }
    }

    @Test("a message of the next user does not go over the socket of the one before", arguments: Ending.allCases)
    func send(ending: Ending) async throws {
        for seed in 0..<10 as Range<UInt64> {
            try await simulate(seed: seed) { simulation in
                let world = World(simulation)
                let heard = Locked<[String]>([])
                let sockets = ScriptedWebSocketTransport(
                    .accept { socket in
                        while true {
                            if case .text(let text) = try await socket.receive() { heard.withLock { $0.append(text) } }
                        }
                    }
                )
                let chat = try await ChatStream().schedule(with: world.service(sockets: sockets))
                try await chat.send("a's")
                await world.end(ending)
                #expect(await end { try await chat.send("b's") } == ending.error)
                #expect(await end { try await chat.ping() } == ending.error)
                try await simulation.clock.sleep(for: .seconds(1))
                #expect(heard.withLock { $0 } == ["a's"])
            }
        }
    }

    @Test("a socket that its user has closed, or the server, has ended with that", arguments: Ending.allCases)
    func closedBefore(ending: Ending) async throws {
        try await simulate { simulation in
            let world = World(simulation)
            let sockets = ScriptedWebSocketTransport(Self.quiet)
            let chat = try await ChatStream().schedule(with: world.service(sockets: sockets))
            await chat.close()
            await world.end(ending)
            #expect(await end { try await chat.next() } == "nil")
        }
    }

    @Test("a page ahead, and the rest of a page's items, are not handed to the next user", arguments: Ending.allCases)
    func pages(ending: Ending) async throws {
        try await simulate { simulation in
            let world = World(simulation)
            let script = ScriptedTransport { request, _ in
                .reply(text: request.url.query == nil ? #"{"numbers": [1, 2], "next": "b"}"# : #"{"numbers": [3]}"#)
            }
            let service = world.service(script)
            var pages = CursorPages().pages(with: service, prefetching: true).makeAsyncIterator()
            var items = CursorPages().items(with: service).makeAsyncIterator()
            let first = try await pages.next()
            #expect(first?.body.numbers == [1, 2])
            #expect(try await items.next() == 1)
            // The page ahead has come.
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(script.count == 3)
            await world.end(ending)
            #expect(await end { try await pages.next() } == ending.error)
            #expect(await end { try await pages.next() } == "nil")
            #expect(await end { try await items.next() } == ending.error)
            #expect(await end { try await items.next() } == "nil")
            #expect(script.count == 3)
        }
    }

    @Test("a call between two attempts does not go out any more", arguments: Ending.allCases)
    func call(ending: Ending) async throws {
        try await simulate { simulation in
            let world = World(simulation)
            let script = ScriptedTransport { _, context in
                if context.number == 1 { await world.end(ending) }
                return context.number == 1 ? .status(503) : .reply(text: "ok")
            }
            #expect(await end { try await Ping.get.schedule(with: world.service(script)) } == ending.error)
            #expect(script.count == 1)
        }
    }

    @Test("what begins afterwards hears why nobody is signed in", arguments: Ending.allCases)
    func afterwards(ending: Ending) async throws {
        try await simulate { simulation in
            let world = World(simulation)
            await world.end(ending)
            let service = world.service(ScriptedTransport(.reply(text: "ok")))
            let outcome = await end { try await Ping.get.schedule(with: service) }
            switch ending {
            case .signOut, .signOutElsewhere: #expect(outcome == "signedOut")
            case .signIn, .signInElsewhere: #expect(outcome == "value")
            case .expiry, .expiryElsewhere: #expect(outcome == "sessionExpired")
            }
        }
    }

    @Test("a download that is resumed does not go on as the next user", arguments: Ending.allCases)
    func download(ending: Ending) async throws {
        let folder = try TemporaryFolder()
        try await simulate { simulation in
            let world = World(simulation)
            let lost = TransportError.failed(.networkConnectionLost, delivery: .maybeExecuted, reason: "lost")
            let script = ScriptedTransport { _, context in
                guard context.number == 1 else { return .reply(text: "all of it") }
                await world.end(ending)
                return .chunks(
                    header: ["ETag": "\"1\"", "Content-Length": "10"],
                    [Data("12345".utf8)],
                    endingWith: lost
                )
            }
            let target = folder.url.appendingPathComponent(UUID().uuidString)
            let outcome = await end { try await Ping.get.download(to: target, with: world.service(script)) }
            #expect(outcome == ending.error)
            #expect(script.attempts.map { $0.header[.authorization] } == ["Bearer token-1"])
            #expect(!FileManager.default.fileExists(atPath: target.path))
        }
    }
}

/// How something ended: the name of its refresh error, "nil" or "value".
private func end(_ work: () async throws -> Any?) async -> String {
    do {
        return try await work() == nil ? "nil" : "value"
    } catch let error as HttpError {
        return switch error.underlying as? RefreshError {
        case .superseded?: "superseded"
        case .sessionExpired?: "sessionExpired"
        case .signedOut?: "signedOut"
        default: "\(error.kind)"
        }
    } catch {
        return "\(error)"
    }
}

extension MessageStream {
    fileprivate func next() async throws -> R.Result? {
        var messages = makeAsyncIterator()
        return try await messages.next()
    }
}
