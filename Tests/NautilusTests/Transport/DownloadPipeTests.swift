import Foundation
import Testing

@testable import Nautilus

@Suite("What has come of a body")
struct DownloadPipeTests {
    private let pipe = DownloadPipe()

    @Test("is read to its end, after which there is nothing more")
    func whole() async throws {
        pipe.write(Data("ab".utf8))
        pipe.finish()
        #expect(try await pipe.next() == Data("ab".utf8))
        #expect(try await pipe.next() == nil)
        #expect(try await pipe.next() == nil)
    }

    @Test("is no whole body to a reader who has left, even if all of it had come")
    func abandoned() async throws {
        pipe.write(Data("ab".utf8))
        pipe.finish()
        pipe.abandon()
        await #expect(throws: CancellationError.self) { try await pipe.next() }
    }

    @Test("ends as it ended first, for a reader who is still there")
    func firstEnd() async throws {
        pipe.finish(.failure(URLError(.timedOut)))
        pipe.finish()
        await #expect(throws: URLError(.timedOut)) { try await pipe.next() }
    }

    @Test("keeps its order when a part of it is on disk, and the reader is in between")
    func order() async throws {
        pipe.write(Data(repeating: 1, count: DownloadPipe.limit))
        pipe.write(Data([2]))
        #expect(try await pipe.next()?.count == DownloadPipe.limit)
        pipe.write(Data([3]))
        pipe.finish()
        #expect(try await pipe.next() == Data([2, 3]))
        #expect(try await pipe.next() == nil)
    }

    @Test("is nothing that comes behind its end")
    func afterEnd() async throws {
        pipe.finish()
        pipe.write(Data("ab".utf8))
        #expect(try await pipe.next() == nil)
    }
}
