import Foundation
import Testing

@testable import NautilusHTTP
@testable import NautilusURLSession

@Suite("The pipe of a downloaded body")
struct DownloadPipeTests {
    private let pipe = DownloadPipe(spoolLimit: 20_000_000)

    @Test("a downloaded body is read to its end, after which there is nothing more")
    func whole() async throws {
        pipe.write(Data("ab".utf8))
        pipe.finish()
        #expect(try await pipe.next() == Data("ab".utf8))
        #expect(try await pipe.next() == nil)
        #expect(try await pipe.next() == nil)
    }

    @Test("a downloaded body is not complete for a reader who has left, even if all of it had come")
    func abandoned() async throws {
        pipe.write(Data("ab".utf8))
        pipe.finish()
        pipe.abandon()
        await #expect(throws: CancellationError.self) { try await pipe.next() }
    }

    @Test("a downloaded body ends as it ended first, for a reader who is still there")
    func firstEnd() async throws {
        pipe.finish(.failure(URLError(.timedOut)))
        pipe.finish()
        await #expect(throws: URLError(.timedOut)) { try await pipe.next() }
    }

    @Test("a downloaded body keeps its order when a part of it is on disk")
    func order() async throws {
        pipe.write(Data(repeating: 1, count: DownloadPipe.limit))
        pipe.write(Data([2]))
        #expect(try await pipe.next()?.count == DownloadPipe.limit)
        pipe.write(Data([3]))
        pipe.finish()
        #expect(try await pipe.next() == Data([2, 3]))
        #expect(try await pipe.next() == nil)
    }

    @Test("nothing that comes behind a downloaded body's end belongs to it")
    func afterEnd() async throws {
        pipe.finish()
        pipe.write(Data("ab".utf8))
        #expect(try await pipe.next() == nil)
    }

    @Test("a downloaded body ends when more waits on disk than may, after what came before")
    func limit() async throws {
        let pipe = DownloadPipe(spoolLimit: 10)
        pipe.write(Data(repeating: 1, count: DownloadPipe.limit))
        pipe.write(Data(repeating: 2, count: 10))
        pipe.write(Data([3]))
        pipe.finish()
        #expect(try await pipe.next()?.count == DownloadPipe.limit)
        #expect(try await pipe.next() == Data(repeating: 2, count: 10))
        await #expect(throws: SpoolFile.overflow(10, .maybeExecuted)) { try await pipe.next() }
    }

    @Test("a downloaded body comes in order from several files for a reader who is always a little behind")
    func behind() async throws {
        let chunk = 1_000_000
        var (written, read) = (0, 0)
        func write() {
            pipe.write(Data(repeating: UInt8(written % 251), count: chunk))
            written += 1
        }
        write()
        write()
        // Three times what one file holds, and more than may wait at once.
        while written < 50 {
            write()
            var got = 0
            while got < chunk, let next = try await pipe.next() {
                for part in 0..<next.count where (read + part) % chunk == 0 {
                    #expect(next[next.startIndex + part] == UInt8((read + part) / chunk % 251))
                }
                got += next.count
                read += next.count
            }
        }
        pipe.finish()
        while let next = try await pipe.next() { read += next.count }
        #expect(read == 50 * chunk)
    }
}
