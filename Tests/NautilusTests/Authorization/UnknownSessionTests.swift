import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus

@Suite("A sequence of calls that begins before anything is known of the session")
struct UnknownSessionTests {
    private struct Foreign: Request {
        typealias Result = String
        var route: HttpRoute { [] }
        var url: (any UrlConvertible)? { "files.example.org/a" }
    }

    @Test("ends with the session whose credential one of its later calls carries")
    func foundLater() async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation, signedIn: nil)
            let transport = ScriptedTransport(.status(200), afterLast: .repeat, clock: simulation.clock)
            let (service, calls) = (world.service(transport), CallSequence())
            _ = try await Foreign().response(with: service, in: calls)
            #expect(!calls.hasSession)
            world.coordinator.adopt(.signedIn(Token(number: 1)), since: world.coordinator.epoch)
            _ = try await Ping.get.response(with: service, in: calls)
            #expect(transport.attempts.map { $0.header[.authorization] } == [nil, "Bearer token-1"])
            #expect(calls.hasSession)
            let start = simulation.clock.now.offset
            let clock = simulation.clock
            async let work: Void? = try? calls.untilEndOfSession({ try await clock.sleep(for: .seconds(60)) })
            try await simulation.clock.sleep(for: .seconds(1))
            world.coordinator.signOut()
            #expect(await work == nil)
            #expect(simulation.clock.now.offset - start == .seconds(1))
            #expect(calls.endOfSession != nil)
        }
    }

    @Test("goes on when somebody signs in, once a request has gone out without a credential", arguments: [true, false])
    func nobodyMeanwhile(isSleep: Bool) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let world = OneSessionWorld(simulation, signedIn: nil)
            let transport = ScriptedTransport(.status(200), afterLast: .repeat, clock: clock)
            let calls = CallSequence()
            let service = world.service(transport).with {
                $0.asyncHeader = {
                    try await clock.sleep(for: .seconds(2))
                    return [:]
                }
            }
            async let response = Foreign().response(with: service, in: calls)
            try await clock.sleep(for: .seconds(1))
            async let isDone = {
                if isSleep {
                    try await calls.sleep(for: .seconds(10), on: clock)
                    return true
                }
                return try await calls.untilEndOfSession({
                    try await clock.sleep(for: .seconds(10))
                    return true
                })
            }()
            try await clock.sleep(for: .seconds(4))
            world.coordinator.signIn(Token(number: 2))
            #expect(try await isDone)
            #expect(clock.now.offset == .seconds(11))
            _ = try await response
        }
    }
}
