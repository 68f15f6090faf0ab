import Foundation
import Nautilus
import NautilusCaching
import NautilusSessions
import NautilusStreams
import NautilusTesting
import TestSupport
import Testing

@Suite("Anonymous and users' streams and cached calls of one service")
struct AnonymousSequenceTests {
    private struct AnonymousFeed: Request {
        typealias Result = HttpBodyStream
        var isAnonymous: Bool { true }
        var route: HttpRoute { ["feed"] }
    }

    @Test("anonymous downloads and feeds have their service's retriers for anonymous calls", arguments: [true, false])
    func anonymousStreams(isFeed: Bool) async throws {
        try await TokenWorld.run { world in
            let session = world.process()
            let event = ScriptedReply.chunks(header: [.contentType: "text/event-stream"], [Data("data: 1\n\n".utf8)])
            let transport = ScriptedTransport(
                isFeed ? event : .status(503),
                isFeed ? event : .reply(text: "file"),
                .status(204),
                clock: world.clock
            )
            let service = world.api.with {
                $0.transport = transport
                $0.retrierFactory = session.retrierFactory
            }
            if isFeed {
                var count = 0
                for try await _ in AnonymousFeed().events(with: service) { count += 1 }
                #expect((count, transport.count) == (2, 3))
            } else {
                let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
                defer { try? FileManager.default.removeItem(at: folder) }
                try await AnonymousFeed().download(to: folder, with: service)
                #expect(transport.count == 2)
            }
        }
    }

    @Test("a call is not given what a cache on disk has, whose user has left while the disk was read")
    func leftWhileReading() async throws {
        try await TokenWorld.run { world in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: folder) }
            let session = try await world.signedIn()
            let transport = ScriptedTransport(.reply(header: ["Cache-Control": "max-age=100"], text: "anna's"))
            let (asked, leaves) = (Locked(0), Locked(false))
            func service() -> (HttpCache, AnyHttpService<HttpError>) {
                let accounts = CacheAccounts.separate { _ in
                    defer {
                        let count = asked.withLock { asked in
                            asked += 1
                            return asked
                        }
                        // Asked when the call begins, and before the disk is read.
                        if leaves.withLock({ $0 }), count == 2 { session.signOutNow() }
                    }
                    return session.id?.uuidString
                }
                let cache = HttpCache(folder: CacheFolder(folder), accounts: accounts, wallClock: { world.date })
                let service = world.api.with {
                    $0.transport = transport
                    $0.retrierFactory = session.retrierFactory
                    $0.interceptors = [cache]
                }
                return (cache, service)
            }
            let (cache, first) = service()
            #expect(await GetNotes().result(with: first).text == "anna's")
            await cache.flush()
            asked.withLock { $0 = 0 }
            leaves.withLock { $0 = true }
            let result = await GetNotes().result(with: service().1)
            #expect(result.error?.requiresSignIn == true)
            #expect(transport.count == 1)
        }
    }
}
