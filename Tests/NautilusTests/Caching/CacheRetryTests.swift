import Foundation
import NautilusTesting
import Testing

@testable import Nautilus

@Suite("HttpCache: retries go to the server, and what failed is not kept", .timeLimit(.minutes(10)))
struct CacheRetryTests {
    @Test("C9: a stored error is not the answer to the retry that it causes, nor what that is validated by")
    func storedError() async throws {
        try await simulate { simulation in
            let sent = Counter()
            let world = CacheWorld(clock: simulation.clock, retrier: steadyBackoff()) { _, _ in
                let header: HttpHeader = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
                return [1, 2, 4].contains(sent.increment())
                    ? .status(503, header: header) : .reply(header: header, text: "one")
            }
            #expect(await world.get() == "200 one")
            #expect(world.sentTags == ["-", "-", "-"])
            // A call that is answered by the stored error itself, as one that does not retry has left it.
            await world.cache.removeAll()
            let hasty = world.service.overriding(retrierFactory: NilRetrier.factory())
            await #expect(throws: HttpError.self) { try await Call.get.schedule(with: hasty) }
            #expect(await world.get() == "200 one")
            #expect(world.sentTags == ["-", "-", "-", "-", "-"])
            #expect(await world.get() == "200 one age 0")
        }
    }

    @Test("C9: a retry asks whether what is stored has changed, and is not answered by it, however fresh")
    func freshMeanwhile() async throws {
        try await simulate { simulation in
            let sent = Counter()
            let header: HttpHeader = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
            let world = CacheWorld(clock: simulation.clock, retrier: steadyBackoff()) { request, _ in
                if sent.increment() == 1 { return .delay(.milliseconds(100), then: .fail(.networkConnectionLost)) }
                return request.header["If-None-Match"] == nil
                    ? .reply(header: header, text: "one") : .status(304, header: header)
            }
            async let first = world.get()
            try await simulation.clock.sleep(for: .milliseconds(10))
            // Another call has stored it by the time that the first is repeated.
            #expect(await world.get() == "200 one")
            #expect(await first == "200 one age 0")
            #expect(world.sentTags == ["-", "-", "\"1\""])
        }
    }
}
