import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

/// A session may end without a word of this process: in another one, or by the server.
@Suite("Streams and the end of their session")
struct SessionEndStreamTests {
    private static let quiet = ScriptedWebSocketTransport.Opening.accept { socket in
        while true { _ = try await socket.receive() }
    }

    @Test("a web socket whose reader waits is closed", arguments: SessionEnding.allCases)
    func socket(ending: SessionEnding) async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation, expires: true)
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

    @Test("a web socket that waits for its next connection ends with the reason", arguments: SessionEnding.allCases)
    func lostSocket(ending: SessionEnding) async throws {
        for seed in 0..<20 as Range<UInt64> {
            try await simulate(seed: seed) { simulation in
                let world = OneSessionWorld(simulation, expires: true)
                let sockets = ScriptedWebSocketTransport(
                    .accept { socket in
                        try await socket.send(.text("hello"))
                        try await simulation.clock.sleep(for: .seconds(1))
                        socket.drop()
                    }
                )
                let service = world.service(sockets: sockets).with {
                    $0.retrierFactory = .composed(
                        AuthorizationRetrier.factory(world.coordinator),
                        ScriptedRetrier.factory { _, _ in .retry(after: .seconds(20)) }
                    )
                }
                let chat = try await ChatStream().schedule(with: service)
                #expect(try await chat.next() == "hello")
                simulation.start {
                    try? await simulation.clock.sleep(for: .seconds(10))
                    await world.end(ending)
                }
                #expect(await end { try await chat.next() } == ending.error, "seed \(seed)")
                #expect(simulation.clock.now.offset == .seconds(10))
            }
        }
    }

    @Test("a feed that waits for its next event ends", arguments: SessionEnding.allCases)
    func feed(ending: SessionEnding) async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation, expires: true)
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

    @Test("a download ends at once, and leaves no file behind", arguments: SessionEnding.allCases)
    func downloadUnderWay(ending: SessionEnding) async throws {
        let folder = try TemporaryFolder()
        let target = folder.url.appendingPathComponent("invoice.pdf")
        try await simulate { simulation in
            let world = OneSessionWorld(simulation, expires: true)
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
        arguments: SessionEnding.allCases
    )
    func ready(ending: SessionEnding) async throws {
        for seed in 0..<10 as Range<UInt64> {
            try await simulate(seed: seed) { simulation in
                let world = OneSessionWorld(simulation, expires: true)
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

    @Test("a message of the next user does not go over the socket of the one before", arguments: SessionEnding.allCases)
    func send(ending: SessionEnding) async throws {
        for seed in 0..<10 as Range<UInt64> {
            try await simulate(seed: seed) { simulation in
                let world = OneSessionWorld(simulation, expires: true)
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

    @Test("a socket that its user has closed, or the server, has ended with that", arguments: SessionEnding.allCases)
    func closedBefore(ending: SessionEnding) async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation, expires: true)
            let sockets = ScriptedWebSocketTransport(Self.quiet)
            let chat = try await ChatStream().schedule(with: world.service(sockets: sockets))
            await chat.close()
            await world.end(ending)
            #expect(await end { try await chat.next() } == "nil")
        }
    }

    @Test("a download that is resumed does not go on as the next user", arguments: SessionEnding.allCases)
    func download(ending: SessionEnding) async throws {
        let folder = try TemporaryFolder()
        try await simulate { simulation in
            let world = OneSessionWorld(simulation, expires: true)
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
