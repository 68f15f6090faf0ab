import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Progress of a body")
struct ProgressTests {
    private func service(_ transport: ScriptedTransport) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "a.com",
            retrierFactory: ScriptedRetrier.factory { asked, _ in asked < 1 ? true : false },
            transport: transport
        )
    }

    @Test("a file tells of each chunk that was taken, and begins anew with each attempt")
    func file() async throws {
        let folder = try TemporaryFolder()
        let told = Locked<[HttpProgress]>([])
        let body = HttpBody.file(try folder.file("a", Data(count: 100_000))).reporting { progress in
            told.withLock { $0.append(progress) }
        }
        #expect(body.contentType == "application/octet-stream")
        let transport = ScriptedTransport(.status(503), .reply(text: "ok"))
        _ = try await Ping(method: .put, body: body).schedule(with: service(transport))
        let once = [65_536, 100_000].map { HttpProgress(completed: $0, total: 100_000) }
        #expect(told.withLock { $0 } == once + once)
        #expect(transport.attempts.map(\.body?.count) == [100_000, 100_000])
    }

    @Test("bytes tell of all of them, a one-shot stream of each chunk, no body of nothing")
    func kinds() async throws {
        let chunks = AsyncStream<Data> { source in
            for count in [3, 4] { source.yield(Data(count: count)) }
            source.finish()
        }
        let cases: [(HttpBody, [HttpProgress])] = [
            (.data(Data(count: 5)), [HttpProgress(completed: 5, total: 5)]),
            (.stream(chunks), [HttpProgress(completed: 3, total: nil), HttpProgress(completed: 7, total: nil)]),
            (.empty, []),
            (.data(Data()), []),
        ]
        for (body, expected) in cases {
            let told = Locked<[HttpProgress]>([])
            let reported = body.reporting { progress in told.withLock { $0.append(progress) } }
            let transport = ScriptedTransport(.reply(text: "ok"))
            _ = try await Ping(method: .post, body: reported).schedule(with: service(transport))
            #expect(told.withLock { $0 } == expected)
        }
    }

    @Test("the fraction is between nothing and all", arguments: [(0, 4, 0), (1, 4, 0.25), (5, 4, 1), (0, 0, 1)])
    func fraction(completed: Int64, total: Int64, fraction: Double) {
        #expect(HttpProgress(completed: completed, total: total).fraction == fraction)
        #expect(HttpProgress(completed: completed, total: nil).fraction == nil)
    }

    @Test("a chunk counts when the next one is asked for: until then it is still under way")
    func underWay() async throws {
        let told = Locked<[Int64]>([])
        let chunks = HttpBodyStream(from: {
            AsyncStream<Data> { source in
                for count in [3, 4] { source.yield(Data(count: count)) }
                source.finish()
            }
        })
        var reader = chunks.reporting { progress in told.withLock { $0.append(progress.completed) } }
            .makeAsyncIterator()
        for expected in [[], [3], [3, 7]] as [[Int64]] {
            _ = try await reader.next()
            #expect(told.withLock { $0 } == expected)
        }
    }
}
