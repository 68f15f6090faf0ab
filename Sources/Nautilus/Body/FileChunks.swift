import Foundation

/// The bytes of a file, 64 KiB at a time, so that a file of any size needs no more memory than that.
struct FileChunks: AsyncSequence, Sendable {
    typealias Element = Data

    /// 64 KiB: as much as an upload passes on at once, and large enough for a disk.
    static let size = 65_536

    private let file: LocalFile
    private let name: String
    private let length: Int64

    /// - Parameter length: How many bytes were announced; further bytes of the file are not read.
    init(_ url: URL, length: Int64) throws(HttpFileError) {
        self.file = try LocalFile(reading: url)
        self.name = url.lastPathComponent
        self.length = length
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: self) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let chunks: FileChunks
        var offset: Int64 = 0

        mutating func next() async throws -> Data? {
            guard offset < chunks.length else { return nil }
            let wanted = Int(Swift.min(Int64(FileChunks.size), chunks.length - offset))
            let chunk = try chunks.file.read(at: offset, upTo: wanted)
            guard !chunk.isEmpty else { throw HttpFileError.changed(name: chunks.name) }
            offset += Int64(chunk.count)
            return chunk
        }
    }
}

extension HttpBodyStream {
    /// A file's bytes, read anew by every reader of the stream, with the length that the file has now.
    ///
    /// - Throws: ``HttpFileError`` when it cannot be read. A file that becomes shorter later is the reader's error.
    public convenience init(file url: URL) throws(HttpFileError) {
        let length = try LocalFile(reading: url).size()
        self.init(length: length, whole: .file(url)) { try FileChunks(url, length: length) }
    }
}
