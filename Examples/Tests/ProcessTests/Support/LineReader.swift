import Foundation

/// The lines of a pipe, as they come. For one reader.
actor LineReader {
    private let chunks: AsyncStream<Data>
    private var rest = Data()

    /// Reads `file`, up to its end.
    init(_ file: FileHandle) {
        let (chunks, continuation) = AsyncStream<Data>.makeStream()
        self.chunks = chunks
        // A thread, since Foundation's handler for such events ends the process at times when its file is closed.
        Thread.detachNewThread {
            while case let data = file.availableData, !data.isEmpty { continuation.yield(data) }
            continuation.finish()
        }
    }

    /// The next line; nil after the last one that ended.
    func next() async -> String? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = Data(rest[(end + 1)...]) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            guard let chunk = await chunks.first(where: { _ in true }) else { return nil }
            rest += chunk
        }
    }
}
