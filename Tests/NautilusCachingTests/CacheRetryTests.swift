import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("HttpCache: retries and failures", .endsInTime)
struct CacheRetryTests {
    @Test("C9: an error of the server is not stored, whatever its header says")
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
            let hasty = world.service.with { $0.retrierFactory = .never }
            await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: hasty) }
            #expect(await world.get() == "200 one")
            #expect(world.sentTags == ["-", "-", "-", "-", "-"])
            #expect(await world.get() == "200 one age 0")
        }
    }

    @Test("C9: a retry is not answered by what is stored meanwhile, however fresh")
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
            #expect(await first == "200 one")
            #expect(world.sentTags == ["-", "-", "-"])
        }
    }

    @Test("C9: what could not be decoded is kept neither in memory nor on disk, so that the next call asks the server")
    func undecodable() async throws {
        try await simulate { simulation in
            let folder = try TemporaryFolder()
            let portal = Locked(true)
            let world = CacheWorld(
                clock: simulation.clock,
                folder: CacheFolder(folder.url.appendingPathComponent("responses"))
            ) { _, _ in
                portal.withLock { $0 }
                    ? .reply(header: ["Cache-Control": "max-age=86400"], text: "<html>Sign in to our network</html>")
                    : .reply(header: ["Cache-Control": "max-age=60"], text: "[1]")
            }
            let error = await #expect(throws: HttpError.self) { try await Numbers().schedule(with: world.service) }
            #expect(error?.kind == .decoding)
            #expect(world.cache.responseCount == 0)
            await world.cache.flush()
            portal.withLock { $0 = false }
            let later = CacheWorld(
                clock: simulation.clock,
                folder: CacheFolder(folder.url.appendingPathComponent("responses"))
            ) { _, _ in .status(500) }
            await #expect(throws: HttpError.self) { try await Numbers().schedule(with: later.service) }
            #expect(later.transport.count == 1)
            for sent in [2, 2] {
                #expect(try await Numbers().schedule(with: world.service) == [1])
                #expect(world.transport.count == sent)
            }
        }
    }

    @Test("C9: a 200 that decodes to an error is not the answer to its retry, nor what that is validated by")
    func rejection() async throws {
        try await simulate { simulation in
            let sent = Counter()
            let world = CacheWorld(clock: simulation.clock, retrier: steadyBackoff()) { _, _ in
                let header: HttpHeader = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
                return .reply(header: header, text: sent.increment() <= 2 ? "busy" : "one")
            }
            let first = try await BusyAware().schedule(with: world.service)
            #expect(world.sentTags == ["-", "-", "-"])
            let second = try await BusyAware().schedule(with: world.service)
            #expect((first, second) == ("one", "one"))
            #expect(world.transport.count == 3)
        }
    }

    @Test(
        "C9: what is served and cannot be decoded is forgotten, also renewed by a 304, or in the place of an error",
        arguments: [("max-age=60", 0, 3), ("max-age=1", 1, 4), ("max-age=1, stale-if-error=60", 2, 4)]
    )
    func undecodableHit(control: String, age: Int, sent: Int) async throws {
        let world = CacheWorld { request, _ in
            if age == 2, request.header["If-None-Match"] != nil { return .status(500) }
            let header = HttpHeader([
                .init(name: "Cache-Control", value: control), .init(name: "ETag", value: "\"1\""),
            ])
            return request.header["If-None-Match"] == nil ? .reply(header: header, text: "text") : .status(304)
        }
        #expect(await world.get() == "200 text")
        world.advance(age)
        // Another type than the one that has had it stored.
        await #expect(throws: HttpError.self) { try await Numbers().schedule(with: world.service) }
        #expect(world.cache.responseCount == 0)
        #expect(await world.get() == "200 text")
        #expect(world.transport.count == sent)
    }

    @Test("C9: a status that is not accepted is an answer, and kept")
    func kept() async throws {
        let missing = CacheWorld { _, _ in .status(404, header: ["Cache-Control": "max-age=60"]) }
        for _ in 1...2 {
            let error = await #expect(throws: HttpError.self) { try await Numbers().schedule(with: missing.service) }
            #expect(error?.kind == .status(404))
        }
        #expect(missing.transport.count == 1)
    }

    @Test("C9: a newer answer stays when an older one turns out not to be decodable")
    func newer() throws {
        let (partition, request) = (CachePartition(account: nil), try HttpRequest.test())
        let target = try #require(CacheTarget(request))
        var memory = CacheMemory(limit: 10_000, maxResponse: 10_000)
        let (old, new) = (StoredResponse.test([:], body: "old"), StoredResponse.test([:], body: "new"))
        _ = memory.store(old, from: memory.begin(target, partition))
        _ = memory.store(new, from: memory.begin(target, partition))
        memory.remove(bodyID: old.bodyID, target, partition)
        #expect(memory.find(target, partition, request) == new)
        memory.remove(bodyID: new.bodyID, target, partition)
        #expect((memory.find(target, partition, request), memory.size) == (nil, 0))
    }
}

/// A list of numbers at the path of ``Ping``.
private struct Numbers: JsonRequest {
    typealias Result = [Int]
    var route: HttpRoute { ["things"] }
}

/// Text, which is none when it says that the server is busy.
private struct BusyAware: Request {
    typealias Result = String
    var route: HttpRoute { ["things"] }

    func status(of response: HttpResponse<Data>) -> AnswerStatus {
        AnswerStatus(response.body == Data("busy".utf8) ? 503 : response.status)
    }

    func decode(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
}

/// Cancels its own call while it decodes.
private struct CancelledDecoding: Request {
    typealias Result = String
    var route: HttpRoute { ["things"] }

    func decode(_ data: Data) throws -> String {
        withUnsafeCurrentTask { $0?.cancel() }
        throw CancellationError()
    }
}
