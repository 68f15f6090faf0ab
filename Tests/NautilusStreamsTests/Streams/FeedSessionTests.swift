import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("The end of a session while a feed waits")
struct FeedSessionTests {
    private static let header: HttpHeader = [.contentType: "text/event-stream"]

    @Test(
        "a feed ends with its session between two connections, though the server has asked for an hour",
        arguments: [false, true]
    )
    func reconnecting(isSignOut: Bool) async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation)
            let events = ScriptedReply.chunks(header: Self.header, [Data("retry: 3600000\nid: a\ndata: 1\n\n".utf8)])
            let script = ScriptedTransport(events, events, clock: simulation.clock)
            var stream = Ping.get.events(with: world.service(script)).makeAsyncIterator()
            let first = try await stream.next()
            #expect(first?.data == "1")
            simulation.start {
                try? await simulation.clock.sleep(for: .seconds(10))
                await world.end(isSignOut ? .signOut : .signIn)
            }
            let isOver = await isOfEndedSession { try await stream.next() }
            #expect(isOver)
            #expect(simulation.clock.now.offset == .seconds(10))
            #expect(script.count == 1)
            let next = try await stream.next()
            #expect(next == nil)
        }
    }

    @Test(
        "a feed ends with its session while a server keeps its answer until there is an event",
        arguments: [false, true],
        [false, true]
    )
    func connecting(isSignOut: Bool, isFirst: Bool) async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation)
            let event = ScriptedReply.chunks(header: Self.header, [Data("data: 1\n\n".utf8)])
            let late = ScriptedReply.delay(.seconds(50), then: event)
            let script =
                isFirst
                ? ScriptedTransport(late, event, clock: simulation.clock)
                : ScriptedTransport(event, late, event, clock: simulation.clock)
            var stream = Ping.get.events(with: world.service(script)).makeAsyncIterator()
            if !isFirst {
                let first = try await stream.next()
                #expect(first?.data == "1")
            }
            simulation.start {
                try? await simulation.clock.sleep(for: .seconds(10))
                await world.end(isSignOut ? .signOut : .signIn)
            }
            let isOver = await isOfEndedSession { try await stream.next() }
            #expect(isOver)
            #expect(simulation.clock.now.offset == .seconds(10))
            #expect(script.count == (isFirst ? 1 : 2))
            let next = try await stream.next()
            #expect(next == nil)
        }
    }

    @Test("a feed ends with its session before an event that has already arrived", arguments: 0..<20)
    func ready(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = OneSessionWorld(simulation)
            let event = Data("data: 1\n\n".utf8)
            let script = ScriptedTransport(.chunks(header: Self.header, [event, event]), clock: simulation.clock)
            var stream = Ping.get.events(with: world.service(script)).makeAsyncIterator()
            let first = try await stream.next()
            #expect(first?.data == "1")
            await world.end(.signOut)
            let isOver = await isOfEndedSession { try await stream.next() }
            #expect(isOver)
        }
    }
}
