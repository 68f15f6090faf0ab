import Foundation

/// A pipe as Foundation reads it.
///
/// On Linux Foundation reads when the connection takes more, on a queue that may wait. On Apple's platforms only streams
/// of its own kind can be read, so that a thread carries the bytes over to one.
enum UploadStream {
    /// A stream with what comes out of `pipe`.
    static func reading(_ pipe: UploadPipe) -> InputStream? {
        #if canImport(FoundationNetworking)
            return PipedInputStream(pipe)
        #else
            var input: InputStream?
            var output: OutputStream?
            Stream.getBoundStreams(withBufferSize: bufferSize, inputStream: &input, outputStream: &output)
            guard let output else { return nil }
            let sink = Sink(stream: output)
            Thread.detachNewThread { sink.drain(pipe) }
            return input
        #endif
    }

    #if !canImport(FoundationNetworking)
        private static let bufferSize = 65_536

        private struct Sink: @unchecked Sendable {
            // Unchecked: the stream goes to one thread, which alone uses it.
            let stream: OutputStream

            func drain(_ pipe: UploadPipe) {
                stream.open()
                defer { stream.close() }
                let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 1)
                defer { buffer.deallocate() }
                while case .bytes(let count) = pipe.read(into: buffer) {
                    var bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                    while let start = bytes.bindMemory(to: UInt8.self).baseAddress, !bytes.isEmpty {
                        let written = stream.write(start, maxLength: bytes.count)
                        // The other end is closed: nobody wants more.
                        guard written > 0 else { return pipe.finish(.failure) }
                        bytes = UnsafeRawBufferPointer(rebasing: bytes[written...])
                    }
                }
            }
        }
    #endif
}

#if canImport(FoundationNetworking)
    /// An `InputStream` whose bytes come out of a pipe.
    private final class PipedInputStream: InputStream {
        private let pipe: UploadPipe
        private var status = Stream.Status.notOpen

        init(_ pipe: UploadPipe) {
            self.pipe = pipe
            super.init(data: Data())
        }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
            switch pipe.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: length)) {
            case .bytes(let count): return count
            case .end: return 0
            case .failure:
                status = .error
                return -1
            }
        }

        // Whether there are any is known when they are asked for.
        override var hasBytesAvailable: Bool { true }
        override var streamStatus: Stream.Status { status }
        override var streamError: (any Error)? { status == .error ? URLError(.cancelled) : nil }
        override func open() { status = .open }
        override func close() { status = .closed }
    }
#endif
