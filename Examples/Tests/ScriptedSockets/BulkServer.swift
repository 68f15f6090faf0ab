import Foundation

/// A plain server on 127.0.0.1, fast enough for gigabytes: threads that wait, and no byte looked at that need not be.
///
/// It serves one file, also from the middle (`Range` with `If-Range`), breaks connections off where it is told to, and
/// counts what is sent to it.
public final class BulkServer: @unchecked Sendable {
    // Unchecked: all that changes is behind the lock.

    /// A request that was seen, its body counted and thrown away.
    public struct Seen: Sendable {
        /// The head; its body is empty.
        public let head: RecordedRequest
        /// How many bytes the body had.
        public let bodyCount: Int
    }

    /// The port, chosen by the system.
    public let port: UInt16
    private let content: Content
    private let listener: Int32
    private let lock = NSLock()
    private var cuts: [Int]
    private var seenRequests: [Seen] = []
    private var connections: Set<Int32> = []
    private var isOpen = true

    /// The content that a server serves.
    public enum Content: Sendable {
        /// So many zeros, which need no memory.
        case zeros(Int)
        /// These bytes.
        case bytes(Data)

        var count: Int {
            switch self {
            case .zeros(let count): count
            case .bytes(let bytes): bytes.count
            }
        }

        func block(at offset: Int, upTo count: Int) -> Data {
            switch self {
            case .zeros(let total): Data(count: min(count, total - offset))
            case .bytes(let bytes): bytes[offset..<min(bytes.count, offset + count)]
            }
        }
    }

    private init(_ content: Content, _ cuts: [Int]) throws {
        (self.content, self.cuts) = (content, cuts)
        #if canImport(Darwin)
            listener = socket(AF_INET, SOCK_STREAM, 0)
        #else
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (listener, size) = (listener, length)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard listener >= 0, isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
    }

    /// `http://127.0.0.1:port`.
    public var url: URL { URL(string: "http://127.0.0.1:\(port)") ?? URL(fileURLWithPath: "/") }

    /// The requests, in the order in which the last byte came.
    public var requests: [Seen] { lock.withLock { seenRequests } }

    /// Serves until `body` returns.
    ///
    /// - Parameters:
    ///   - content: The answer to a GET.
    ///   - cuts: After how many bytes of its body the first answer breaks off, the second, and so on. Those that follow
    ///     are whole.
    public static func run<Result>(
        serving content: Content = .zeros(0),
        cutting cuts: [Int] = [],
        whileOpen body: (BulkServer) async throws -> Result
    ) async throws -> Result {
        let server = try BulkServer(content, cuts)
        Thread.detachNewThread { server.accept() }
        defer { server.stop() }
        return try await body(server)
    }

    private func stop() {
        let connections = lock.withLock {
            isOpen = false
            return self.connections
        }
        // Wakes the threads that wait in them.
        for connection in connections { _ = shutdown(connection, Int32(SHUT_RDWR)) }
        _ = shutdown(listener, Int32(SHUT_RDWR))
        _ = close(listener)
    }

    private func accept() {
        while true {
            #if canImport(Darwin)
                let socket = Darwin.accept(listener, nil, nil)
            #else
                let socket = Glibc.accept(listener, nil, nil)
            #endif
            guard socket >= 0 else { return }
            let isOpen = lock.withLock {
                if self.isOpen { connections.insert(socket) }
                return self.isOpen
            }
            guard isOpen else {
                _ = close(socket)
                return
            }
            Thread.detachNewThread { [self] in
                var connection = BulkConnection(socket: socket)
                while let head = connection.readHead(), let count = connection.skipBody(of: head) {
                    lock.withLock { seenRequests.append(Seen(head: head, bodyCount: count)) }
                    guard answer(head, bodyCount: count, on: connection) else { break }
                }
                lock.withLock { _ = connections.remove(socket) }
                _ = close(socket)
            }
        }
    }

    /// Answers; false when the connection is to be closed.
    private func answer(_ head: RecordedRequest, bodyCount: Int, on connection: BulkConnection) -> Bool {
        guard head.method == "GET" else {
            let text = "\(bodyCount)"
            return connection.write(Data("HTTP/1.1 200 OK\r\nContent-Length: \(text.count)\r\n\r\n\(text)".utf8))
        }
        let first = start(askedBy: head)
        let (status, range) =
            first > 0
            ? ("206 Partial Content", "Content-Range: bytes \(first)-\(content.count - 1)/\(content.count)\r\n")
            : ("200 OK", "")
        let fields = "ETag: \"1\"\r\n\(range)Content-Length: \(content.count - first)\r\n\r\n"
        guard connection.write(Data("HTTP/1.1 \(status)\r\n\(fields)".utf8)) else { return false }
        let cut = lock.withLock { cuts.isEmpty ? nil : cuts.removeFirst() }
        let end = min(content.count, cut.map { first + $0 } ?? content.count)
        var offset = first
        while offset < end {
            let block = content.block(at: offset, upTo: min(end - offset, 262_144))
            guard connection.write(block) else { return false }
            offset += block.count
        }
        return end == content.count
    }

    private func start(askedBy head: RecordedRequest) -> Int {
        guard head.values(of: "If-Range").first == "\"1\"", let range = head.values(of: "Range").first,
            let first = Int(range.dropFirst("bytes=".count).dropLast()), first < content.count
        else { return 0 }
        return first
    }
}

/// A connection on a thread that may wait.
private struct BulkConnection {
    let socket: Int32
    private var buffer: [UInt8] = []
    private var start = 0

    init(socket: Int32) { self.socket = socket }

    mutating func readHead() -> RecordedRequest? {
        var lines: [String] = []
        while let line = readLine() {
            if line.isEmpty, let first = lines.first {
                return RecordedRequest(requestLine: first, headerLines: Array(lines.dropFirst()), body: Data())
            }
            lines.append(line)
        }
        return nil
    }

    /// Reads a body and throws it away; its size, nil when the peer has left first.
    mutating func skipBody(of head: RecordedRequest) -> Int? {
        if let length = head.values(of: "Content-Length").first.flatMap({ Int($0) }) {
            return skip(length) ? length : nil
        }
        guard head.values(of: "Transfer-Encoding").contains("chunked") else { return 0 }
        var total = 0
        while let count = readLine().flatMap({ Int($0, radix: 16) }), skip(count), readLine() != nil {
            total += count
            if count == 0 { return total }
        }
        return nil
    }

    func write(_ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                #if canImport(Darwin)
                    let flags: Int32 = 0
                #else
                    let flags = Int32(MSG_NOSIGNAL)
                #endif
                let count = send(socket, bytes.baseAddress?.advanced(by: written), bytes.count - written, flags)
                guard count > 0 else { return false }
                written += count
            }
            return true
        }
    }

    private mutating func readLine() -> String? {
        while true {
            if let end = buffer[start...].firstIndex(of: 0x0A) {
                defer { start = end + 1 }
                return String(decoding: buffer[start..<end].filter { $0 != 0x0D }, as: UTF8.self)
            }
            guard fill() else { return nil }
        }
    }

    private mutating func skip(_ count: Int) -> Bool {
        let here = min(count, buffer.count - start)
        start += here
        var left = count - here
        guard left > 0 else { return true }
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: min(left, 1 << 18), alignment: 1)
        defer { scratch.deallocate() }
        while left > 0 {
            let count = recv(socket, scratch.baseAddress, min(left, scratch.count), 0)
            guard count > 0 else { return false }
            left -= count
        }
        return true
    }

    /// Reads little: what belongs to a body is better skipped.
    private mutating func fill() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = recv(socket, &bytes, bytes.count, 0)
        guard count > 0 else { return false }
        buffer = Array(buffer[start...]) + bytes[..<count]
        start = 0
        return true
    }
}
