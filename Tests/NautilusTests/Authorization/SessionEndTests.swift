import Foundation
import NautilusPages
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

/// A session may end without a word of this process: in another one, or by the server.
@Suite("Calls and the end of their session")
struct SessionEndTests {
    @Test(
        "a call that waits for its next attempt ends at once, and sends nothing more",
        arguments: SessionEnding.allCases
    )
    func delayedCall(ending: SessionEnding) async throws {
        let (error, time, count) = try await simulate { simulation in
            let world = OneSessionWorld(simulation, expires: true)
            let transport = ScriptedTransport(.status(503, header: [.retryAfter: "30"]), clock: world.clock)
            async let result = Ping().result(with: world.service(transport))
            try await world.clock.sleep(for: .seconds(5))
            await world.end(ending)
            let error = await result.error
            return (error, world.clock.now.offset, transport.count)
        }
        #expect(error?.isSuperseded == (ending.error == "superseded"))
        #expect(error?.requiresSignIn == (ending.error != "superseded"))
        #expect(time == .seconds(5))
        #expect(count == 1)
    }

    @Test(
        "a call that waits for the pause which its origin has ordered ends at once, too",
        arguments: SessionEnding.allCases,
        [Duration.zero, .seconds(3)]
    )
    func pausedCall(ending: SessionEnding, backoff: Duration) async throws {
        let (error, time, count) = try await simulate { simulation in
            let world = OneSessionWorld(simulation, expires: true)
            let transport = ScriptedTransport(.status(503), clock: world.clock)
            let policy = BackoffRetrier.Configuration.atOnce.with {
                $0.backoff = .constant(backoff, jitter: .none)
                $0.gate = world.coordinator
            }
            let service = world.service(transport).with {
                $0.retrierFactory = .composed(
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
        #expect(error?.requiresSignIn == (ending.error != "superseded"))
        #expect(time == .seconds(backoff == .zero ? 5 : 2))
        #expect(count == 1)
    }

    @Test("an answer that comes after the end stays in the error and in the trace", arguments: SessionEnding.allCases)
    func refused(ending: SessionEnding) async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation, expires: true)
            let transport = ScriptedTransport { _, _ in
                await world.end(ending)
                return .status(409, header: [.retryAfter: "30"], body: Data("taken".utf8))
            }
            let error = try #require(await Ping.post.result(with: world.service(transport)).error)
            #expect(error.isSuperseded == (ending.error == "superseded"))
            #expect(error.requiresSignIn == (ending.error != "superseded"))
            #expect(error.status == 409)
            #expect(error.retryAfter == nil)
            #expect(error.delivery == .maybeExecuted)
            #expect(error.trace.attempts.map(\.outcome) == [.failed(.validate, .status(409), .maybeExecuted)])
        }
    }

    @Test("a call to another origin, which carries no credential, ends with its session as well")
    func foreignCall() async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation, expires: true)
            let transport = ScriptedTransport(
                .status(503, header: [.retryAfter: "30"]),
                .status(200),
                clock: world.clock
            )
            async let call = Foreign().result(with: world.service(transport))
            try await world.clock.sleep(for: .seconds(5))
            await world.end(.signOut)
            #expect(await call.error?.requiresSignIn == true)
            #expect(world.clock.now.offset == .seconds(5))
            #expect(transport.count == 1)
        }
    }

    private struct Foreign: Request {
        typealias Result = String
        var route: HttpRoute { [] }
        var url: (any UrlConvertible)? { "files.example.org/a" }
    }

    @Test(
        "a page ahead, and the rest of a page's items, are not handed to the next user",
        arguments: SessionEnding.allCases
    )
    func pages(ending: SessionEnding) async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation, expires: true)
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

    @Test("a call between two attempts does not go out any more", arguments: SessionEnding.allCases)
    func call(ending: SessionEnding) async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation, expires: true)
            let script = ScriptedTransport { _, context in
                if context.number == 1 { await world.end(ending) }
                return context.number == 1 ? .status(503) : .reply(text: "ok")
            }
            #expect(await end { try await Ping.get.schedule(with: world.service(script)) } == ending.error)
            #expect(script.count == 1)
        }
    }

    @Test("a later call fails with the reason why nobody is signed in", arguments: SessionEnding.allCases)
    func afterwards(ending: SessionEnding) async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation, expires: true)
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
}
