import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCurl
@testable import NautilusHTTP

@Suite("A streamed body between a task and libcurl's loop", .endsInTime)
struct CurlBodyTests {
    private struct Broken: Error {}

    private func read(_ upload: CurlUpload, _ count: Int) -> (CurlUpload.Reading, Data) {
        var bytes = [UInt8](repeating: 0, count: count)
        let reading = bytes.withUnsafeMutableBytes { upload.read(into: $0) }
        guard case .bytes(let count) = reading else { return (reading, Data()) }
        return (reading, Data(bytes.prefix(count)))
    }

    private func stream(_ chunks: [String], length: Int64? = nil, error: (any Error)? = nil) -> HttpBodyStream {
        HttpBodyStream(
            length: length,
            from: {
                AsyncThrowingStream { source in
                    for chunk in chunks { source.yield(Data(chunk.utf8)) }
                    source.finish(throwing: error)
                }
            }
        )
    }

    /// Reads the whole text, waiting whenever the reader has to.
    private func readAll(_ stream: HttpBodyStream) async -> (text: String, last: CurlUpload.Reading) {
        let upload = CurlUpload()
        let (more, onMore) = AsyncStream.makeStream(of: Void.self)
        let feeding = Task { await upload.feed(stream) { onMore.yield() } }
        defer { feeding.cancel() }
        var (text, wakes) = (Data(), more.makeAsyncIterator())
        while true {
            let (reading, bytes) = read(upload, 3)
            switch reading {
            case .bytes(0), .failed: return (String(decoding: text, as: UTF8.self), reading)
            case .bytes: text += bytes
            case .wait: await wakes.next()
            }
        }
    }

    @Test("a streamed body arrives whole, whatever the sizes of its chunks")
    func whole() async {
        let (text, last) = await readAll(stream(["", "a", "bcdefgh", "", "ij"], length: 10))
        #expect(text == "abcdefghij")
        #expect(last == .bytes(0))
    }

    @Test("a streamed body of a known length is asked for its end before its last byte goes")
    func told() async {
        let (upload, asked) = (CurlUpload(), Locked(0))
        let chunks: @Sendable () -> AsyncThrowingStream<Data, any Error> = {
            AsyncThrowingStream {
                asked.withLock {
                    $0 += 1; return $0
                } <= 2 ? Data([0]) : nil
            }
        }
        let (more, onMore) = AsyncStream.makeStream(of: Void.self)
        let feeding = Task { await upload.feed(HttpBodyStream(length: 2, from: chunks)) { onMore.yield() } }
        var (count, wakes) = (0, more.makeAsyncIterator())
        while count < 2 {
            switch read(upload, 1).0 {
            case .bytes(let read): count += read
            case .wait: await wakes.next()
            case .failed:
                Issue.record("it failed")
                return
            }
        }
        #expect(asked.withLock { $0 } == 3)
        upload.close()
        await feeding.value
    }

    @Test("a streamed body is not made before it is asked for")
    func lazy() async throws {
        try await simulate { simulation in
            let upload = CurlUpload()
            let oneShot = HttpBodyStream(once: AsyncThrowingStream<Data, any Error> { $0.finish() })
            async let feeding: Void = upload.feed(oneShot) {}
            // Time passes when nothing is left to do: the writer waits by then.
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(oneShot.isReplayable)
            #expect(!upload.hasBegun)
            upload.close()
            await feeding
            #expect(oneShot.isReplayable)
        }
    }

    @Test(
        "a streamed body fails with the stream's error, and with its own error for another length",
        arguments: [3, 5] as [Int64]
    )
    func fails(length: Int64) async {
        #expect(await readAll(stream(["abcd"], error: Broken())).last == .failed)
        #expect(await readAll(stream(["abcd"], length: length)).last == .failed)
    }

    @Test("a streamed body is delivered in order, and its end last")
    func download() async throws {
        let download = CurlDownload()
        for text in ["ab", "cd"] { _ = Array(text.utf8).withUnsafeBytes { download.write($0) } }
        download.finish(.failure(Broken()))
        let isKept = Array("ef".utf8).withUnsafeBytes { download.write($0) }
        #expect(!isKept)
        #expect(try await download.next {} == Data("abcd".utf8))
        await #expect(throws: Broken.self) { try await download.next {} }
    }

    @Test("a streamed body stops its writer when it is full, and lets it go on when it was read")
    func pressure() async throws {
        let download = CurlDownload()
        let part = [UInt8](repeating: 0, count: CurlDownload.limit)
        #expect(!download.isFull())
        _ = part.withUnsafeBytes { download.write($0) }
        #expect(download.isFull())
        var resumed = 0
        #expect(try await download.next { resumed += 1 }?.count == CurlDownload.limit)
        #expect(resumed == 1)
        #expect(!download.isFull())
    }

    @Test("a streamed body whose reader has left ends with a cancellation, even when it is complete")
    func abandoned() async {
        let download = CurlDownload()
        download.finish()
        download.abandon()
        await #expect(throws: CancellationError.self) { try await download.next {} }
    }
}
