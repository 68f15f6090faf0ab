import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("RequestCoalescing: answers that calls may not share", .endsInTime)
struct CoalescingChangeTests {
    @Test("a request made after a change leads anew, and a cache keeps its answer, not the one from before")
    func cacheBefore() async throws {
        try await simulate { simulation in
            let version = Counter()
            let world = CacheWorld(clock: simulation.clock, inside: [RequestCoalescing()]) { request, _ in
                guard request.method == .get else {
                    version.increment()
                    return .status(204)
                }
                let reply = ScriptedReply.reply(
                    header: ["Cache-Control": "max-age=60"],
                    text: "version \(version.value)"
                )
                return .delay(.seconds(5), then: reply)
            }
            async let old = world.get()
            try await simulation.clock.sleep(for: .seconds(1))
            async let follower = world.get()
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(await world.get(method: .post) == "204")
            #expect(await world.get() == "200 version 1")
            #expect(await (old, follower) == ("200 version 0", "200 version 0"))
            #expect(await world.get() == "200 version 1 age 5")
            #expect(world.transport.count == 3)
        }
    }

    @Test(
        "whatever may have changed something parts those who come later from the exchanges under way",
        arguments: [
            (.post, .status(204), 2), (.post, .status(303), 2), ("PURGE", .status(500), 2),
            // An error answer says that nothing has changed; a gateway's, that it is not known.
            (.delete, .status(409), 1), (.post, .status(429), 1),
            (.post, .status(503, header: ["Retry-After": "1"]), 1),
            (.post, .status(502), 2),
            (.put, .fail(.networkConnectionLost), 2), (.put, .fail(CancellationError()), 2),
            // It was never sent.
            (.post, .fail(.cannotConnectToHost, delivery: .notSent), 1),
            // They change nothing.
            (.options, .status(204), 1), (.head, .status(200), 1),
        ] as [(HttpMethod, ScriptedReply, Int)]
    )
    func methods(method: HttpMethod, reply: ScriptedReply, exchanges: Int) async throws {
        try await simulate { simulation in
            let (clock, asked) = (simulation.clock, Counter())
            let transport = ScriptedTransport(clock: clock) { request, _ in
                guard request.method == .get else { return reply }
                return .delay(.seconds(5), then: .reply(text: "answer \(asked.increment())"))
            }
            let coalescing = RequestCoalescing()
            let service = AnyHttpService(coalescingOn: transport, clock, by: coalescing)
            async let old = Ping.get.schedule(with: service)
            try await clock.sleep(for: .seconds(1))
            _ = try? await Ping(method: method).schedule(with: service)
            async let new = Ping.get.schedule(with: service)
            #expect(try await (old, new) == ("answer 1", "answer \(exchanges)"))
            #expect(asked.value == exchanges)
            #expect((coalescing.exchangeCount, coalescing.waitingCount) == (0, 0))
        }
    }

    @Test("a redirect is one type's answer: another follows it")
    func redirect() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in
                request.url.path == "/things"
                    ? .delay(.seconds(1), then: .status(302, header: ["Location": "/elsewhere"]))
                    : .reply(text: "elsewhere")
            }
            let service = AnyHttpService(coalescingOn: transport, clock)
            async let accepting = Ping(acceptedStatusCodes: 302).response(with: service)
            try await clock.sleep(for: .milliseconds(1))
            async let following = Ping.get.response(with: service)
            async let another = Ping.get.response(with: service)
            #expect(try await accepting.status == 302)
            #expect(try await (following.body, another.body) == ("elsewhere", "elsewhere"))
            #expect(clock.now.offset == .milliseconds(1_001))
            #expect(transport.count(of: .get, "/things") == 2)
        }
    }

    @Test("a redirect that may not be followed is a failure of those who would follow it alone")
    func refusedRedirect() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { _, _ in
                .delay(.seconds(1), then: .status(302, header: ["Location": "http://api.example.com/things"]))
            }
            let service = AnyHttpService(coalescingOn: transport, clock)
            async let following = Ping.get.schedule(with: service)
            try await clock.sleep(for: .milliseconds(1))
            async let accepting = Ping(acceptedStatusCodes: 302).response(with: service)
            #expect(try await accepting.status == 302)
            do {
                _ = try await following
                Issue.record("the redirect was followed")
            } catch {
                #expect((error as? HttpError)?.kind == .redirect(.downgrade))
            }
            #expect(transport.count == 2)
        }
    }
}
