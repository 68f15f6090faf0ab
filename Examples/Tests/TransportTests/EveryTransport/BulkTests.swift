import Foundation
import Nautilus
import NautilusStreams
import NautilusTesting
import ScriptedSockets
import Testing

@Suite("Files of a gigabyte, and connections that break", .serialized, .timeLimit(.minutes(10)), .whereAvailable)
struct BulkTests {
    private static let gibibyte = 1 << 30

    private struct Send: Request {
        typealias Result = String
        let body: HttpBody
        var route: HttpRoute { [] }
        var method: HttpMethod { .put }
        var timeout: Duration? { .seconds(300) }
    }

    private struct Fetch: Request {
        typealias Result = HttpBodyStream
        var route: HttpRoute { [] }
    }

    private func service(_ url: URL, attempts: Int = 1) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: url,
            retrierFactory: BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = .constant(.zero)
                    $0.maxAttempts = attempts
                    $0.budget = .unlimited
                }
            ),
            transport: TransportUnderTest.make()
        )
    }

    private func temporary() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("nautilus-bulk-\(UUID().uuidString)")
    }

    @Test("a gigabyte goes up from a file, with its length, and is told of to the last byte")
    func uploadsFile() async throws {
        let file = temporary()
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forWritingTo: file)
        // A hole: it takes no room on the disk.
        try handle.truncate(atOffset: UInt64(Self.gibibyte))
        try handle.close()
        let (memory, last) = (MemoryWatch(), LastProgress())
        try await BulkServer.run { server in
            let body = HttpBody.file(file).reporting { progress in
                memory.look()
                last.set(progress)
            }
            let count = try await Send(body: body).schedule(with: service(server.url))
            #expect(count == "\(Self.gibibyte)")
            #expect(server.requests.first?.head.values(of: "Content-Length") == ["\(Self.gibibyte)"])
        }
        #expect(last.progress == HttpProgress(completed: Int64(Self.gibibyte), total: Int64(Self.gibibyte)))
        #expect(memory.growth < ResidentMemory.limit)
    }

    @Test("a gigabyte goes up from a stream")
    func uploadsStream() async throws {
        let memory = MemoryWatch()
        try await BulkServer.run { server in
            let body = HttpBody.stream(from: { Zeros(count: 1024, size: 1 << 20) }).reporting { _ in memory.look() }
            let count = try await Send(body: body).schedule(with: service(server.url))
            #expect(count == "\(Self.gibibyte)")
        }
        #expect(memory.growth < ResidentMemory.limit)
    }

    @Test("a gigabyte comes down to a file")
    func downloads() async throws {
        let target = temporary()
        defer { try? FileManager.default.removeItem(at: target) }
        let (memory, last) = (MemoryWatch(), LastProgress())
        try await BulkServer.run(serving: .zeros(Self.gibibyte)) { server in
            _ = try await Fetch().download(to: target, with: service(server.url)) { progress in
                memory.look()
                last.set(progress)
            }
        }
        let size = try FileManager.default.attributesOfItem(atPath: target.path)[.size] as? Int
        #expect(size == Self.gibibyte)
        #expect(last.progress == HttpProgress(completed: Int64(Self.gibibyte), total: Int64(Self.gibibyte)))
        #expect(memory.growth < ResidentMemory.limit)
    }

    @Test("a file that is sent in random pieces arrives unchanged", arguments: 1...5 as ClosedRange<UInt64>)
    func cut(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let bytes = Data((0..<250_000).flatMap { _ in withUnsafeBytes(of: generator.next(), Array.init) })
        let cuts = (0..<8).map { _ in Int.random(in: 0...300_000, using: &generator) }
        let target = temporary()
        defer { try? FileManager.default.removeItem(at: target) }
        let last = LastProgress()
        try await BulkServer.run(serving: .bytes(bytes), cutting: cuts) { server in
            _ = try await Fetch().download(to: target, with: service(server.url, attempts: 20)) { last.set($0) }
            #expect(server.requests.count == 9)
            let starts = server.requests.map { $0.head.values(of: "Range").first ?? "bytes=0-" }
                .compactMap { Int($0.dropFirst("bytes=".count).dropLast()) }
            // Every attempt begins where bytes had come to: never behind what was sent, never before the last start.
            #expect(starts.count == 9 && starts == starts.sorted())
        }
        let written = try Data(contentsOf: target)
        #expect(written == bytes)
        #expect(last.progress == HttpProgress(completed: Int64(bytes.count), total: Int64(bytes.count)))
    }
}

/// Chunks of zeros, without a stream that would hold them.
private struct Zeros: AsyncSequence, Sendable {
    typealias Element = Data
    let count: Int
    let size: Int

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(left: count, size: size) }

    struct AsyncIterator: AsyncIteratorProtocol {
        var left: Int
        let size: Int

        mutating func next() async -> Data? {
            guard left > 0 else { return nil }
            left -= 1
            return Data(count: size)
        }
    }
}

/// How much more memory there was at any look than at the beginning.
private final class MemoryWatch: @unchecked Sendable {
    // Unchecked: all that changes is behind the lock.
    private let lock = NSLock()
    private let before = try? ResidentMemory.mebibytes()
    private var most = 0
    private var looks = 0

    /// Looks every 64th time.
    func look() {
        lock.withLock {
            looks += 1
            guard looks % 64 == 1, let now = try? ResidentMemory.mebibytes() else { return }
            most = max(most, now)
        }
    }

    /// In MiB; the greatest number when nothing was measured.
    var growth: Int { lock.withLock { looks > 0 ? most - (before ?? 0) : .max } }
}

/// The progress that was reported last.
private final class LastProgress: @unchecked Sendable {
    // Unchecked: all that changes is behind the lock.
    private let lock = NSLock()
    private var last: HttpProgress?

    func set(_ progress: HttpProgress) { lock.withLock { last = progress } }

    var progress: HttpProgress? { lock.withLock { last } }
}
